package traffic

import (
	"context"
	"sync"
	"time"
)

// deadline is a context that ends at a time. Unlike that of context.WithDeadline, it starts a timer only
// when Done is called: a client can set the deadline of its connection instead.
type deadline struct {
	context.Context // the parent
	at              time.Time

	mu      sync.Mutex
	waited  context.Context // nil: nobody has called Done
	release context.CancelFunc
}

func withDeadline(parent context.Context, at time.Time) *deadline {
	return &deadline{Context: parent, at: at}
}

// Deadline implements context.Context.
func (d *deadline) Deadline() (time.Time, bool) { return d.at, true }

// Err implements context.Context.
func (d *deadline) Err() error {
	d.mu.Lock()
	waited := d.waited
	d.mu.Unlock()
	if waited != nil && waited.Err() != nil {
		return waited.Err()
	}
	if err := d.Context.Err(); err != nil {
		return err
	}
	if !time.Now().Before(d.at) {
		return context.DeadlineExceeded
	}
	return nil
}

// Done implements context.Context.
func (d *deadline) Done() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.waited == nil {
		d.waited, d.release = context.WithDeadline(d.Context, d.at)
	}
	return d.waited.Done()
}

// cancel releases the timer. It must be called when nobody uses the context any more.
func (d *deadline) cancel() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.release != nil {
		d.release()
	}
}
