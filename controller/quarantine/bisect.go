package quarantine

import (
	"context"
	"fmt"
	"time"

	"windtunnel.dev/controller/snapshot"
)

// Tester is the interface between Bisect and its caller.
type Tester struct {
	Clock func() time.Time
	// Test runs nginx -t on the configuration of a cluster. words is nginx's message if it rejects
	// the cluster. An error means that the test could not run.
	Test func(context.Context, snapshot.Snapshot) (words string, rejected bool, err error)
	// Report is called for each verdict that differs from the object's previous one.
	Report func(Verdict)
	// Yield is called after each trial. It reports whether a sync is due, which takes precedence.
	Yield func() bool
}

// testRetry is the pause after a test that could not run.
const testRetry = 5 * time.Second

// Hopeless is the error of a search that found no object at fault: nginx rejects the configuration
// regardless of which object is left out.
type Hopeless struct{ words string }

func (h *Hopeless) Error() string {
	return fmt.Sprintf("nginx rejects the configuration no matter which ingress or key is left out: %s", h.words)
}

// Bisect tests the objects that wait in quarantine, one trial at a time. It stops when no object
// waits, the budget is spent, ctx is done, or Yield reports that a sync is due. The next call
// continues the search. changed reports whether Serve now returns another cluster than before. The
// error is nil or a *Hopeless.
func (q *Quarantine) Bisect(ctx context.Context, cluster snapshot.Snapshot, t Tester) (changed bool, err error) {
	for ctx.Err() == nil && !t.Clock().Before(q.retry) {
		next, any := q.next(cluster, t.Clock())
		if !any {
			break
		}
		words, rejected := q.isKnown(next)
		if !rejected {
			if q.budget.wait(t.Clock()) > 0 {
				break
			}
			began := t.Clock()
			words, rejected, err = t.Test(ctx, next.cluster)
			q.budget.spend(t.Clock(), t.Clock().Sub(began))
			if err != nil {
				q.retry = t.Clock().Add(testRetry)
				return changed, nil //nolint:nilerr // the trial is repeated after testRetry
			}
		}
		if !rejected {
			q.accept(next)
			changed = changed || len(next.part) > 0
		} else {
			verdict, hopeless := q.reject(next, words, t.Clock())
			if hopeless {
				return changed, &Hopeless{words}
			}
			if verdict != nil {
				changed = true
				if verdict.news {
					t.Report(*verdict)
				}
			}
		}
		q.catchUp()
		if t.Yield() {
			break
		}
	}
	return changed, nil
}

// Wait returns the time until Bisect can run the next trial, or false if there is none unless
// something changes.
func (q *Quarantine) Wait(now time.Time) (time.Duration, bool) {
	wait, any := q.waitForTrial(now)
	if !any {
		return 0, false
	}
	return max(wait, q.budget.wait(now), q.retry.Sub(now)), true
}
