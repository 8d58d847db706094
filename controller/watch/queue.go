package watch

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// task requests one sync. All tasks have different times, so the work queue never merges them. The
// Queue skips those that a sync has covered.
type task struct {
	what   string
	at     time.Duration // since the queue's start, on the monotonic clock
	always bool          // never skipped
}

// Queue calls a function for its tasks, one sync at a time. Its rules are those of ingress-nginx's
// task queue. It skips a task that was added before the last successful sync began, because that
// sync already saw the change. It retries a failed sync with backoff (5 ms, doubled each time up to
// 1000 s, and at most 10 per second), and never skips the retry.
type Queue struct {
	sync     func(context.Context) error
	tasks    workqueue.TypedRateLimitingInterface[task]
	start    time.Time
	lastSync time.Duration
}

// NewQueue returns a queue whose Run calls sync.
func NewQueue(sync func(context.Context) error) *Queue {
	return &Queue{
		sync:  sync,
		tasks: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[task]()),
		start: time.Now(),
	}
}

// Add requests a sync that sees all changes up to now. what is the reason.
func (q *Queue) Add(what string) { q.tasks.Add(task{what: what, at: time.Since(q.start)}) }

// Force requests a sync that is never skipped.
func (q *Queue) Force(what string) {
	q.tasks.Add(task{what: what, at: time.Since(q.start), always: true})
}

// Run processes tasks until ctx is done and the running sync has returned.
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
