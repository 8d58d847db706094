// Package local runs the controller and nginx of a subject as processes on this machine, with a
// simulated cluster. Its one rule: no process that it starts outlives it.
package local

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// Driver starts subjects on this machine.
type Driver struct {
	// Bundled is the path of the bundled controller's binary.
	Bundled string
	// PortBase is the first port of the first subject. The ports of each further subject start ten
	// higher. 0 means any free ports.
	PortBase int
	// HostPaths allows controllers without rootFlag, which write to the paths in the constant
	// HostPaths.
	HostPaths bool
}

// HostPaths are the fixed paths to which ingress-nginx and its forks write.
const HostPaths = "/etc/nginx, /etc/ingress-controller and /tmp/nginx"

// rootFlag restricts our controller's writes to a folder.
const rootFlag = "nginx-root"

var _ driver.SubjectLimiter = Driver{}

// Name returns "local".
func (Driver) Name() string { return "local" }

// UnsupportedSubject returns a reason for subjects that need a container and, unless HostPaths
// allows them, for subjects that write outside of their own folder.
func (d Driver) UnsupportedSubject(s subject.Subject) string {
	switch {
	case strings.HasPrefix(s.Controller, subject.ImagePrefix):
		return "its controller is an image, but this driver runs processes: use --driver container"
	case !s.Resources.IsZero():
		return "processes have no limits for CPU and memory: use --driver container"
	case d.HostPaths:
		return ""
	}
	flags, err := supportedFlags(context.Background(), d.binary(s))
	if err != nil || flags[rootFlag] {
		return "" // Prepare reports the error
	}
	return fmt.Sprintf("its controller %s has no flag --%s, so it writes to %s of this machine: run it from an image with --driver container, or allow that with --allow-host-paths",
		d.binary(s), rootFlag, HostPaths)
}

// binary returns the path of the subject's controller.
func (d Driver) binary(s subject.Subject) string {
	if s.Controller == subject.Bundled {
		return d.Bundled
	}
	return s.Controller
}

// Prepare starts the simulated cluster of a subject.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (driver.Instance, error) {
	if err := driver.SupportsSubject(d, s); err != nil {
		return nil, err
	}
	flags, err := supportedFlags(ctx, d.binary(s))
	if err != nil {
		return nil, err
	}
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	instance := cluster.WithRuntime(&runtime{cluster: cluster, binary: d.binary(s), flags: flags})
	if err := layOutFirewall(cluster.Root); err != nil {
		return nil, errors.Join(fmt.Errorf("copy the rules of ModSecurity: %w", err), instance.Stop(ctx))
	}
	return instance, nil
}
