package watch

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// task asks for one sync. Tasks differ in their time, so the work queue merges
// none; it is the queue below that skips those whose sync has been.
type task struct {
	what   string
	at     time.Duration // since the queue's start, on the monotonic clock
	always bool          // never skipped
}

// Queue calls a sync, one at a time, for the tasks it is given. Its rules are
// those of ingress-nginx's task queue: a task that was added before the last
// successful sync began is skipped, because that sync has seen its change
// already; a sync that failed is tried again with growing pauses (5 ms doubled
// up to 1000 s, and no more than 10 a second) and is not skipped.
type Queue struct {
	sync     func(context.Context) error
	tasks    workqueue.TypedRateLimitingInterface[task]
	start    time.Time
	lastSync time.Duration
}

// NewQueue returns a queue that calls sync from Run.
func NewQueue(sync func(context.Context) error) *Queue {
	return &Queue{
		sync:  sync,
		tasks: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[task]()),
		start: time.Now(),
	}
}

// Add asks for a sync that sees what has happened up to now. What names the
// reason.
func (q *Queue) Add(what string) { q.tasks.Add(task{what: what, at: time.Since(q.start)}) }

// Force asks for a sync of its own.
func (q *Queue) Force(what string) {
	q.tasks.Add(task{what: what, at: time.Since(q.start), always: true})
}

// Run works until ctx is done and the sync under way has returned.
func (q *Queue) Run(ctx context.Context) {
	stop := context.AfterFunc(ctx, q.tasks.ShutDown)
	defer stop()
	for {
		next, closed := q.tasks.Get()
		if closed {
			return
		}
		if ctx.Err() == nil {
			q.work(ctx, next)
		}
		q.tasks.Done(next)
	}
}

func (q *Queue) work(ctx context.Context, next task) {
	began := time.Since(q.start)
	if !next.always && q.lastSync > next.at {
		q.tasks.Forget(next)
		return
	}
	if err := q.sync(ctx); err != nil {
		q.tasks.AddRateLimited(task{what: next.what, always: true})
		return
	}
	q.tasks.Forget(next)
	q.lastSync = began
}
