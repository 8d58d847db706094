// Package status writes the addresses at which ingresses can be reached into their status. It
// stands between the controller and the status of those ingresses. Several controllers may serve
// the same ingresses. Its one rule: only their leader writes.
package status

import (
	"context"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/kubernetes"
)

// Options configure Run. The comments name the flags of ingress-nginx.
type Options struct {
	Client    kubernetes.Interface
	Pod       *corev1.Pod // the controller's own
	Election  Election
	Addresses Addresses
	// Ingresses returns the ingresses that the controller serves.
	Ingresses func() []*networkingv1.Ingress

	Update     bool          // --update-status
	Interval   time.Duration // --status-update-interval
	OnShutdown bool          // --update-status-on-shutdown
	// Leader is called with true when this controller becomes the leader, and with false when it no
	// longer is.
	Leader func(bool)
	Log    *slog.Logger
}

// Run takes part in the election. As the leader it updates the status of the ingresses immediately
// and then at every interval. When ctx is done, the leader removes the addresses if necessary, and
// Run returns. It keeps the lease until then, so no other controller writes at the same time.
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

// either returns a channel that is closed when one of two contexts is done.
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
