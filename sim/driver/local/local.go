// Package local runs subjects as processes of this machine: the controller and
// nginx as they are, beside a simulated cluster. Its one rule: nothing it
// starts outlives it.
package local

import (
	"context"
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
	// PortBase is the first of the ports of the first subject; each further
	// subject starts ten higher. 0: any free ports.
	PortBase int
	// HostPaths allows a controller without rootFlag, which writes to the
	// constant HostPaths.
	HostPaths bool
}

// HostPaths are the fixed paths to which ingress-nginx and its forks write.
const HostPaths = "/etc/nginx, /etc/ingress-controller and /tmp/nginx"

// rootFlag restricts our controller's writes to a folder.
const rootFlag = "nginx-root"

// Name is "local".
func (Driver) Name() string { return "local" }

// Refuses returns a reason for subjects that need a container, and for those that write
// outside of their own folder, unless that is allowed.
func (d Driver) Refuses(s subject.Subject) string {
	switch {
	case strings.HasPrefix(s.Controller, subject.ImagePrefix):
		return "its controller is an image, and here processes run: use --driver container"
	case !s.Resources.IsZero():
		return "processes have no limits of CPU and memory: use --driver container"
	case d.HostPaths:
		return ""
	}
	takes, err := taken(context.Background(), d.binary(s))
	if err != nil || takes[rootFlag] {
		return "" // Prepare reports the error
	}
	return fmt.Sprintf("its controller %s has no flag --%s, so it writes to %s of this machine: run it from an image with --driver container, or allow that with --allow-host-paths",
		d.binary(s), rootFlag, HostPaths)
}

// binary is the controller's.
func (d Driver) binary(s subject.Subject) string {
	if s.Controller == subject.Bundled {
		return d.Bundled
	}
	return s.Controller
}

// Prepare starts an API server and makes room for pods.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Room) (driver.Instance, error) {
	if err := driver.Takes(d, s); err != nil {
		return nil, err
	}
	takes, err := taken(ctx, d.binary(s))
	if err != nil {
		return nil, err
	}
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	return cluster.At(&place{cluster: cluster, binary: d.binary(s), takes: takes}), nil
}
