// Package status tells the cluster at which addresses its ingresses are
// reached. It stands between the controller, of which several may serve the
// same ingresses, and the status of those ingresses. Its one rule: only the
// leader writes.
package status

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/kubernetes"
)

// Options of Run. The durations and sources are ingress-nginx's flags.
type Options struct {
	Client    kubernetes.Interface
	Pod       *corev1.Pod // the controller's own
	Election  Election
	Addresses Addresses
	// Ingresses are those that the controller serves.
	Ingresses func() []*networkingv1.Ingress

	Update     bool          // --update-status
	Interval   time.Duration // --status-update-interval
	OnShutdown bool          // --update-status-on-shutdown
	// Leader is told when this controller becomes the leader and when it is
	// one no longer.
	Leader func(bool)
	Log    *slog.Logger
}

// Run takes part in the election and, as the leader, keeps the ingresses'
// status up to date: at once and then at every interval. It returns when ctx is
// done and, if it is ours to do, the addresses are taken back. The lease is
// held until then, so that no other controller writes meanwhile.
func Run(ctx context.Context, o Options) {
	w := writer{o}
	o.Election.run(ctx, o.Client, o.Pod, o.Log, func(lead context.Context) {
		o.Leader(true)
		defer o.Leader(false)
		if !o.Update {
			<-either(ctx, lead)
			return
		}
		tick := time.NewTicker(o.Interval)
		defer tick.Stop()
		for ended := either(ctx, lead); !closed(ended); {
			w.update(lead)
			select {
			case <-tick.C:
			case <-ended:
			}
		}
		if lead.Err() == nil && o.OnShutdown {
			w.withdraw(lead)
		}
	})
}

// either is closed when one of two contexts is done.
func either(a, b context.Context) <-chan struct{} {
	joined, cancel := context.WithCancel(a)
	context.AfterFunc(b, cancel)
	return joined.Done()
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
