package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

// inBubble runs a test on a fake clock with a queue whose sync first takes a
// token of ingress-nginx's rate limit, as the controller's does. The times of
// the syncs are those since the start.
func inBubble(t *testing.T, sync func(nth int) error, test func(*Queue, func() []time.Duration)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		limit := rate.NewLimiter(0.3, 1)
		var times []time.Duration
		queue := NewQueue(func(ctx context.Context) error {
			if err := limit.Wait(ctx); err != nil {
				return nil
			}
			times = append(times, time.Since(start).Round(10*time.Millisecond))
			return sync(len(times))
		})
		done := make(chan struct{})
		go func() {
			queue.Run(ctx)
			close(done)
		}()
		synctest.Wait() // until it waits for a task
		test(queue, func() []time.Duration {
			cancel()
			<-done
			return times
		})
	})
}

func succeed(int) error { return nil }

func wantTimes(t *testing.T, got []time.Duration, want ...time.Duration) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("syncs at %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("sync %d at %v, want %v", i+1, got[i], want[i])
		}
	}
}

const period = 3330 * time.Millisecond // 1/0.3 s

// The sync of the first event is under way when the others come; the second
// sees them all.
func TestBurstMakesTwoSyncs(t *testing.T) {
	takeTime := func(int) error {
		time.Sleep(time.Millisecond)
		return nil
	}
	inBubble(t, takeTime, func(queue *Queue, stop func() []time.Duration) {
		for range 200 {
			queue.Add("update EndpointSlice demo/web")
			time.Sleep(time.Microsecond)
		}
		time.Sleep(time.Minute)
		wantTimes(t, stop(), 0, period)
	})
}

// What came while a sync waited for the rate limit makes one more, although it
// was seen: ingress-nginx counts from the beginning of the wait.
func TestSteadyChurnMakesOneSyncAPeriod(t *testing.T) {
	inBubble(t, succeed, func(queue *Queue, stop func() []time.Duration) {
		for range 100 { // over 10 s
			queue.Add("update EndpointSlice demo/web")
			time.Sleep(100 * time.Millisecond)
		}
		time.Sleep(time.Minute)
		wantTimes(t, stop(), 0, period, 6670*time.Millisecond, 10*time.Second, 13330*time.Millisecond)
	})
}

func TestForcedTasksAreNotMerged(t *testing.T) {
	inBubble(t, succeed, func(queue *Queue, stop func() []time.Duration) {
		for range 3 {
			queue.Force("update ConfigMap ingress-nginx/controller")
			time.Sleep(time.Microsecond)
		}
		time.Sleep(time.Minute)
		wantTimes(t, stop(), 0, period, 6670*time.Millisecond)
	})
}

func TestFailedSyncIsTriedAgainUntilItSucceeds(t *testing.T) {
	failTwice := func(nth int) error {
		if nth <= 2 {
			return errors.New("nginx did not take it")
		}
		return nil
	}
	inBubble(t, failTwice, func(queue *Queue, stop func() []time.Duration) {
		queue.Add("create Ingress demo/web")
		time.Sleep(time.Minute)
		wantTimes(t, stop(), 0, period, 6670*time.Millisecond)
	})
}

func TestFailedSyncDoesNotSkipWhatCameBeforeIt(t *testing.T) {
	failOnce := func(nth int) error {
		if nth == 1 {
			return errors.New("nginx did not take it")
		}
		return nil
	}
	inBubble(t, failOnce, func(queue *Queue, stop func() []time.Duration) {
		queue.Add("create Ingress demo/a")
		time.Sleep(time.Microsecond)
		queue.Add("create Ingress demo/b")
		time.Sleep(time.Minute)
		// b, then the retry of a, which is not skipped.
		wantTimes(t, stop(), 0, period, 6670*time.Millisecond)
	})
}

func TestRunEndsInTheMiddleOfARateLimit(t *testing.T) {
	inBubble(t, succeed, func(queue *Queue, stop func() []time.Duration) {
		queue.Add("a")
		time.Sleep(time.Second)
		queue.Add("b")
		time.Sleep(time.Second)
		wantTimes(t, stop(), 0) // b waits for the limit and is given up
	})
}
