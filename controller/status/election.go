package status

import (
	"context"
	"log/slog"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// Election configures how the controllers of one class elect a leader. They use a Lease in the
// namespace of their pods.
type Election struct {
	ID  string        // name of the Lease (--election-id)
	TTL time.Duration // how long the lease is valid without renewal (--election-ttl); at least 1 s
}

// handOver bounds how long run waits for lead to return when ctx is done.
const handOver = 10 * time.Second

// run takes part in elections until ctx is done, again after each loss of the lease. It calls lead
// while this controller is the leader, with a context that ends with the leadership. When ctx is
// done, lead must return by itself; run then releases the lease.
func (e Election) run(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, log *slog.Logger, lead func(context.Context)) {
	var term sync.Mutex // held while lead runs
	for ctx.Err() == nil {
		running, stop := context.WithCancel(context.WithoutCancel(ctx))
		led := make(chan struct{})
		elector, err := leaderelection.NewLeaderElector(e.config(client, pod, log, func(ctx context.Context) {
			term.Lock()
			defer term.Unlock()
			defer close(led)
			if ctx.Err() == nil {
				lead(ctx)
			}
		}))
		if err != nil {
			panic(err) // only for a TTL of some nanoseconds
		}
		end := context.AfterFunc(ctx, func() {
			defer stop()
			if elector.IsLeader() {
				select {
				case <-led:
				case <-running.Done():
				case <-time.After(handOver):
				}
			}
		})
		elector.Run(running)
		end()
		stop()
	}
	term.Lock() // wait until lead has returned
	defer term.Unlock()
}

// config returns the configuration of the election. The ratios of the durations are
// ingress-nginx's.
func (e Election) config(client kubernetes.Interface, pod *corev1.Pod, log *slog.Logger, lead func(context.Context)) leaderelection.LeaderElectionConfig {
	return leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: pod.Namespace, Name: e.ID},
			Client:     client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: pod.Name},
		},
		LeaseDuration:   e.TTL,
		RenewDeadline:   e.TTL / 2,
		RetryPeriod:     e.TTL / 4,
		ReleaseOnCancel: true,
		Name:            e.ID,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: lead,
			OnStoppedLeading: func() {},
			OnNewLeader: func(leader string) {
				log.Info("leader", "lease", e.ID, "pod", leader, "me", leader == pod.Name)
			},
		},
	}
}
