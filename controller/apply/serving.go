package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"windtunnel.dev/controller/nginx"
)

// servingPoll is the pause between two questions to nginx who serves what.
const servingPoll = 10 * time.Millisecond

// Serving is what a worker says it serves.
type Serving struct {
	PID        int
	Generation int // a number that grows with every load of nginx.conf
	Workers    int // how many there are of that generation
	// The numbers of the newest POSTs that the worker has taken over, 0 for
	// none: what each POST was given grows with every one.
	Backends, Certificates uint64
}

// ErrNotTold says that nginx's Lua does not tell what its workers serve: it is
// not ours, or was not asked to (options.ReportWorkers).
var ErrNotTold = errors.New("nginx's Lua does not tell what its workers serve")

// Serving asks nginx what each of its workers serves.
func (t *Target) Serving(ctx context.Context) ([]Serving, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, t.control+"/configuration/workers", nil)
	if err != nil {
		return nil, err
	}
	response, err := control.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking nginx what its workers serve: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNotFound {
		return nil, ErrNotTold
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("asking nginx what its workers serve: %s answers %s", request.URL, response.Status)
	}
	var all []Serving
	if err := json.NewDecoder(response.Body).Decode(&all); err != nil {
		return nil, fmt.Errorf("reading what nginx's workers serve: %w", err)
	}
	return all, nil
}

// AwaitServing returns when every worker that accepts connections has said
// that it serves the backends that nginx took last, or newer ones. It asks
// again when it gets no answer, but for ErrNotTold.
func (t *Target) AwaitServing(ctx context.Context) error {
	process := t.started()
	if process == nil {
		return errors.New("nginx does not run")
	}
	tick := time.NewTicker(servingPoll)
	defer tick.Stop()
	for {
		said, err := t.Serving(ctx)
		if errors.Is(err, ErrNotTold) {
			return err
		}
		if workers, workersErr := process.Workers(); workersErr == nil && allServe(workers, said, t.sequence.Load()) {
			return nil
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return fmt.Errorf("nginx ended while its workers were asked what they serve: %w", process.Err())
		case <-ctx.Done():
			return fmt.Errorf("waiting for all workers of nginx to serve POST %d (they said %+v, %v): %w", t.sequence.Load(), said, err, context.Cause(ctx)) //nolint:errorlint // err may be nil
		}
	}
}

// allServe says whether the newest generation is complete, serves the sequence
// number, and is the only one that accepts connections.
func allServe(workers []nginx.Worker, said []Serving, sequence uint64) bool {
	byPID := make(map[int]Serving, len(said))
	newest := Serving{}
	for _, s := range said {
		byPID[s.PID] = s
		if s.Generation > newest.Generation {
			newest = s
		}
	}
	serving := 0
	for _, worker := range workers {
		if worker.Draining {
			continue
		}
		s, told := byPID[worker.PID]
		if !told || s.Generation != newest.Generation || s.Backends < sequence {
			return false
		}
		serving++
	}
	return serving > 0 && serving == newest.Workers
}
