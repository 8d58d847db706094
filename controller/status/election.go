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

// Election is how the controllers of one class agree on a leader: by a Lease
// in the namespace of their pods.
type Election struct {
	ID  string        // name of the Lease (--election-id)
	TTL time.Duration // of a leader that does not renew it (--election-ttl)
}

// farewell bounds how long the end of the program may take to hand over.
const farewell = 10 * time.Second

// run takes part until ctx is done, again after each loss. While this
// controller is the leader, lead runs; its context ends when it is one no
// longer. When ctx ends, lead must return by itself; only then the lease is
// given up.
func (e Election) run(ctx context.Context, client kubernetes.Interface, pod *corev1.Pod, log *slog.Logger, lead func(context.Context)) {
	var term sync.Mutex // one at a time
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
			panic(err) // only for a TTL below 0
		}
		end := context.AfterFunc(ctx, func() {
			defer stop()
			if elector.IsLeader() {
				select {
				case <-led:
				case <-running.Done():
				case <-time.After(farewell):
				}
			}
		})
		elector.Run(running)
		end()
		stop()
	}
	term.Lock() // it has returned
	defer term.Unlock()
}

// config has ingress-nginx's ratios of the times.
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
