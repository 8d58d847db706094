// Package container runs subjects in containers of this machine's engine: the
// controller and nginx in one, with the host's network, beside a simulated
// cluster. Their processes are looked at from the host, where a container's are
// processes like others. Its one rule: whatever happens to the harness, its
// containers go: with Stop, or before the next subject is prepared.
package container

import (
	"context"
	"fmt"
	"os"
	"strings"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// Driver starts subjects in containers.
type Driver struct {
	// Image is of the bundled controller, or of what is to run in its place.
	// Empty: the one that make image makes.
	Image string
	// PortBase is the first of the ports of the first subject; each further
	// subject starts ten higher. 0: any free ports.
	PortBase int
}

// Name is "container".
func (Driver) Name() string { return "container" }

// Fit is nil when subjects can run here; otherwise it says what is missing and
// how to get it.
func (d Driver) Fit(ctx context.Context) error {
	provider, err := engine.Open(ctx)
	if err != nil {
		return err
	}
	defer provider.Close()
	_, err = engine.Has(ctx, provider.Client(), d.image(subject.Bundled))
	return err
}

// image is what a controller's name in a scenario stands for.
func (d Driver) image(controller string) string {
	if name, ok := strings.CutPrefix(controller, subject.ImagePrefix); ok {
		return name
	}
	if d.Image != "" {
		return d.Image
	}
	return engine.Image
}

// Refuses binaries: they are not in an image.
func (Driver) Refuses(s subject.Subject) string { return driver.RefusesBinaries(s) }

// Prepare removes what dead harnesses left, starts an API server and makes room
// for pods.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Room) (_ driver.Instance, err error) {
	if err := driver.Takes(d, s); err != nil {
		return nil, err
	}
	provider, err := engine.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			provider.Close()
		}
	}()
	if err := removeOrphans(ctx, provider.Client()); err != nil {
		return nil, err
	}
	image, err := engine.Has(ctx, provider.Client(), d.image(s.Controller))
	if err != nil {
		return nil, err
	}
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	return cluster.At(&place{cluster: cluster, provider: provider, image: image, name: d.image(s.Controller), run: fmt.Sprintf("%d-%d", os.Getpid(), in.Index)}), nil
}
