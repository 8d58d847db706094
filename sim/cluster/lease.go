package cluster

import (
	"context"
	"fmt"
	"os"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Lease is a Kubernetes Lease. It marks a run as alive as long as it is renewed.
type Lease struct {
	Namespace, Name string
	Labels          map[string]string
	// Duration is how long the run lives without renewing its Lease, at least one second.
	Duration time.Duration
}

// Hold creates the Lease and renews it until release is called. It retries after failures: other runs
// remove this run's objects only after the Lease has expired.
func (l Lease) Hold(ctx context.Context, client kubernetes.Interface) (release func(), err error) {
	host, _ := os.Hostname() // for people who look at the Lease
	now := metav1.NewMicroTime(time.Now())
	lease, err := client.CoordinationV1().Leases(l.Namespace).Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: l.Name, Labels: l.Labels},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new(fmt.Sprintf("%s:%d", host, os.Getpid())), AcquireTime: &now, RenewTime: &now,
			LeaseDurationSeconds: new(int32(l.Duration.Seconds())),
		},
	}, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("create the Lease of the run: %w", err)
	}
	renewing, end := context.WithCancel(context.WithoutCancel(ctx))
	renewed := make(chan struct{})
	go func() {
		defer close(renewed)
		l.renew(renewing, client, lease)
	}()
	return func() { end(); <-renewed }, nil
}

func (l Lease) renew(ctx context.Context, client kubernetes.Interface, lease *coordinationv1.Lease) {
	leases := client.CoordinationV1().Leases(l.Namespace)
	ticker := time.NewTicker(l.Duration / 6)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			lease.Spec.RenewTime = new(metav1.NewMicroTime(now))
			renewed, err := leases.Update(ctx, lease, metav1.UpdateOptions{})
			if apierrors.IsConflict(err) { // an earlier answer was lost
				renewed, err = leases.Get(ctx, lease.Name, metav1.GetOptions{})
			}
			if err == nil {
				lease = renewed
			}
		}
	}
}

// Expires returns when the Lease expires, whichever run holds it. If there is no Lease, the run has
// begun a moment ago or is over; the time then counts from since.
func (l Lease) Expires(ctx context.Context, client kubernetes.Interface, since time.Time) (time.Time, error) {
	lease, err := client.CoordinationV1().Leases(l.Namespace).Get(ctx, l.Name, metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return time.Time{}, fmt.Errorf("get the Lease %s of namespace %s: %w", l.Name, l.Namespace, err)
	}
	if err == nil && lease.Spec.RenewTime != nil {
		since = lease.Spec.RenewTime.Time
	}
	return since.Add(l.Duration), nil
}
