package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"
)

// inBubble runs a test with a fake clock. In each sync, its queue first waits for ingress-nginx's
// rate limit, like the controller. test receives the queue and a function that ends it and returns
// the times of the syncs since the start.
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
		synctest.Wait() // until the queue waits for a task
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

// The sync of the first event is running when the others arrive. The second sync sees them all.
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

// Events that arrive while a sync waits for the rate limit cause another sync, although that sync
// sees them: as in ingress-nginx, a sync begins before the wait.
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

func TestFailedSyncIsRetriedUntilItSucceeds(t *testing.T) {
	failTwice := func(nth int) error {
		if nth <= 2 {
			return errors.New("nginx rejected it")
		}
		return nil
	}
	inBubble(t, failTwice, func(queue *Queue, stop func() []time.Duration) {
		queue.Add("create Ingress demo/web")
		time.Sleep(time.Minute)
		wantTimes(t, stop(), 0, period, 6670*time.Millisecond)
	})
}

func TestFailedSyncDoesNotSkipEarlierTasks(t *testing.T) {
	failOnce := func(nth int) error {
		if nth == 1 {
			return errors.New("nginx rejected it")
		}
		return nil
	}
	inBubble(t, failOnce, func(queue *Queue, stop func() []time.Duration) {
		queue.Add("create Ingress demo/a")
		time.Sleep(time.Microsecond)
		queue.Add("create Ingress demo/b")
		time.Sleep(time.Minute)
		// The second sync is for b, the third is the retry for a, which is not skipped.
		wantTimes(t, stop(), 0, period, 6670*time.Millisecond)
	})
}

func TestRunEndsWhileASyncWaitsForTheRateLimit(t *testing.T) {
	inBubble(t, succeed, func(queue *Queue, stop func() []time.Duration) {
		queue.Add("a")
		time.Sleep(time.Second)
		queue.Add("b")
		time.Sleep(time.Second)
		wantTimes(t, stop(), 0) // b is dropped while it waits for the limit
	})
}
