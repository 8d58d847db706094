// Package container runs subjects in containers of this machine's engine: the controller and nginx
// in one container, with the host's network and a simulated cluster. It observes their processes
// from the host, where they are ordinary processes. Its one rule: whatever happens to the harness,
// its containers are removed, by Stop or when the next subject is prepared.
package container

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// Driver starts subjects in containers.
type Driver struct {
	// Image is the image of the bundled controller, or of its replacement. "" means engine.Image,
	// which make image builds.
	Image string
	// PortBase is the first port of the first subject. The ports of each further subject start ten
	// higher. 0 means any free ports.
	PortBase int
}

var (
	_ driver.SubjectLimiter = Driver{}
	_ driver.PodLimiter     = Driver{}
	_ driver.ImageRunner    = Driver{}
)

// Name returns "container".
func (Driver) Name() string { return "container" }

// Available returns nil if subjects can run on this machine. Otherwise the error describes what is
// missing and how to get it.
func (d Driver) Available(ctx context.Context) error {
	provider, err := engine.Open(ctx)
	if err != nil {
		return err
	}
	defer provider.Close()
	_, err = engine.Has(ctx, provider.Client(), d.ImageOf(subject.Subject{Controller: subject.Bundled}))
	return err
}

// ImageOf implements driver.ImageRunner.
func (d Driver) ImageOf(s subject.Subject) string {
	return cmp.Or(s.Image(), d.Image, engine.Image)
}

// Room implements driver.PodLimiter.
func (Driver) Room(need backend.Need) error { return need.Fit(backend.BlockPods) }

// UnsupportedSubject returns a reason for subjects whose controller is a binary or a file, because it is
// not in an image of the engine, and for adapters that an image cannot run.
func (Driver) UnsupportedSubject(s subject.Subject) string {
	if why := driver.UnsupportedBinary(s); why != "" {
		return why
	}
	return driver.UnsupportedImage(s)
}

// Prepare removes the containers of dead harnesses and starts the simulated cluster of a subject.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (_ driver.Instance, err error) {
	if err := driver.SupportsSubject(d, s); err != nil {
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
	a, err := adapters.Find(s.Adapter)
	if err != nil {
		return nil, err
	}
	image, err := engine.Has(ctx, provider.Client(), d.ImageOf(s))
	if err != nil {
		return nil, err
	}
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	setup, err := cluster.ExpandForImage(a, image.Config.Labels)
	if err != nil {
		return nil, errors.Join(err, cluster.Discard(ctx))
	}
	r := &runtime{cluster: cluster, setup: setup, provider: provider, image: image, name: d.ImageOf(s), run: fmt.Sprintf("%d-%d", os.Getpid(), in.Index)}
	return cluster.WithRuntime(ctx, setup, r)
}
