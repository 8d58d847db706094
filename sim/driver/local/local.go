// Package local runs subjects as processes of this machine: the controller and
// nginx as they are, beside a simulated cluster. Its one rule: nothing it
// starts outlives it.
package local

import (
	"context"
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
}

// Name is "local".
func (Driver) Name() string { return "local" }

// Refuses what only a container can be or have.
func (Driver) Refuses(s subject.Subject) string {
	switch {
	case strings.HasPrefix(s.Controller, subject.ImagePrefix):
		return "its controller is an image, and here processes run: use --driver container"
	case !s.Resources.IsZero():
		return "processes have no limits of CPU and memory: use --driver container"
	}
	return ""
}

// Prepare starts an API server and makes room for pods.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Room) (driver.Instance, error) {
	if err := driver.Takes(d, s); err != nil {
		return nil, err
	}
	var takes map[string]bool
	if s.Controller == subject.Bundled {
		var err error
		if takes, err = taken(ctx, d.Bundled); err != nil {
			return nil, err
		}
	}
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	return cluster.At(&place{cluster: cluster, bundled: d.Bundled, takes: takes}), nil
}
