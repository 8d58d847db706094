package installed

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"sync"

	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
)

// instance is a run on an installation.
type instance struct {
	fault.Unable

	driver   *Driver
	setup    *adapter.Setup
	run      string // its name, the value of RunLabel
	objects  *objects
	pods     backend.Fleet
	endLease func() // nil if there is none
	endPods  func() // nil if there are none
	died     chan struct{}

	stop    sync.Once
	stopped error
}

var _ driver.Shared = (*instance)(nil)

func (i *instance) API() *rest.Config                     { return i.driver.API }
func (i *instance) Setup() *adapter.Setup                 { return i.setup }
func (i *instance) Pods() backend.Fleet                   { return i.pods }
func (i *instance) Address() netip.AddrPort               { return i.driver.http }
func (i *instance) TLS() netip.AddrPort                   { return i.driver.https }
func (i *instance) Streams() []netip.AddrPort             { return nil }
func (i *instance) Objects() driver.Objects               { return i.objects }
func (i *instance) Namespace() string                     { return homePrefix + i.run }
func (i *instance) Class() string                         { return i.driver.Class }
func (i *instance) Replicas() int                         { return i.driver.Replicas }
func (i *instance) DefaultCertificate() *x509.Certificate { return i.driver.certificate }

// Launch checks that nginx answers.
func (i *instance) Launch(ctx context.Context) error { return i.driver.checkAnswers(ctx) }

// Healthy checks that nginx answers.
func (i *instance) Healthy(ctx context.Context) error { return i.driver.checkHTTP(ctx) }

// Revive returns an error: this driver starts no controllers.
func (i *instance) Revive(context.Context) error {
	return errors.New("the controller of an installation is not restarted")
}

// Died returns a channel that is never closed, because the end of an installation's controller
// cannot be seen.
func (i *instance) Died() <-chan struct{} { return i.died }
func (i *instance) Err() error            { return nil }

// Stop removes everything that the run created and restores what it changed. It does so even if ctx
// has ended, because other users of the cluster would be left with the changes.
func (i *instance) Stop(ctx context.Context) error {
	i.stop.Do(func() {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), cleanupTimeout, fmt.Errorf("timed out after %v", cleanupTimeout))
		defer cancel()
		if i.endPods != nil {
			i.endPods()
		}
		i.stopped = i.driver.removeRun(ctx, i.run, func(ctx context.Context) error {
			if i.objects == nil || i.objects.settings == nil {
				return nil
			}
			return i.objects.settings.restore(ctx)
		})
		if i.endLease != nil {
			i.endLease()
		}
	})
	return i.stopped
}
