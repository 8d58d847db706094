// Package local runs the controller and nginx of a subject as processes on this machine, with a
// simulated cluster: from binaries, or from the unpacked files of a container image. Its one rule:
// no process that it starts outlives it.
package local

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"

	"windtunnel.dev/adapters"
	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// Driver starts subjects on this machine.
type Driver struct {
	// Bundled is the path of the bundled controller's binary.
	Bundled string
	// Replaced says that another controller may be at that path, so reports name it.
	Replaced bool
	// PortBase is the first port of the first subject. The ports of each further subject start ten
	// higher. 0 means any free ports.
	PortBase int
	// HostPaths lets controllers that use fixed paths use those of this machine. Otherwise they get
	// folders of their own at these paths.
	HostPaths bool
}

var (
	_ driver.SubjectLimiter = Driver{}
	_ driver.FlagReader     = Driver{}
	_ driver.PodLimiter     = Driver{}
	_ driver.ProgramRunner  = Driver{}
)

// allowsIsolation returns why this machine does not allow the isolation of controllers. Tests
// replace it.
var allowsIsolation = isolated.Allowed

// Name returns "local".
func (Driver) Name() string { return "local" }

// ProgramOf implements driver.ProgramRunner.
func (d Driver) ProgramOf(s subject.Subject) string {
	switch {
	case s.IsImage(), s.Controller == subject.Bundled && !d.Replaced:
		return ""
	case s.Controller == subject.Bundled:
		return d.Bundled
	}
	return s.Controller
}

// Room implements driver.PodLimiter.
func (Driver) Room(need backend.Need) error { return need.Fit(backend.BlockPods) }

// UnsupportedSubject returns a reason for subjects that need limits, programs that this machine
// lacks, or isolation that it does not allow.
func (d Driver) UnsupportedSubject(s subject.Subject) string {
	if !s.Resources.IsZero() {
		return "processes have no limits for CPU and memory: use --driver container"
	}
	if s.IsImage() {
		return unsupportedImage(s)
	}
	a, err := adapters.Find(s.Adapter)
	if err != nil {
		return "" // Prepare reports the error
	}
	for _, program := range a.Needs {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Sprintf("the adapter %s needs the program %s, which is not on PATH", a.Name, program)
		}
	}
	if (a.Isolation == nil || d.HostPaths) && !a.InCluster || allowsIsolation() == nil {
		return ""
	}
	c, err := d.controller(context.Background(), a, s)
	if err != nil {
		return "" // Prepare reports the error
	}
	setup, err := a.Expand(c.tell(adapter.Data{Flags: s.Flags, Config: s.Config}))
	if err != nil {
		return "" // likewise
	}
	return d.unisolated(c.path, setup)
}

// unisolated returns why a controller cannot run on a machine that does not allow its isolation, or
// an empty text if it can.
func (d Driver) unisolated(controller string, setup *adapter.Setup) string {
	var folders []string
	if setup.Isolation != nil && !d.HostPaths {
		folders = append(folders, setup.Isolation.Folders...)
	}
	alternative := ", or let it use those of this machine with --allow-host-paths"
	if setup.InCluster {
		folders = append(folders, adapter.AccountFolder)
		alternative = "" // --allow-host-paths does not apply to this folder
	}
	if len(folders) == 0 {
		return ""
	}
	return fmt.Sprintf("its controller %s needs %s of its own, but %v: run it from an image with --driver container%s",
		controller, strings.Join(folders, ", "), allowsIsolation(), alternative)
}

// controller is the program that a subject runs.
type controller struct {
	path string
	help adapter.Help
}

// controller finds the program of a subject and, if its adapter asks, which flags it has.
func (d Driver) controller(ctx context.Context, a *adapter.Adapter, s subject.Subject) (c controller, err error) {
	switch {
	case s.Controller == subject.Bundled:
		c.path = d.Bundled
	case s.Controller != "":
		c.path = s.Controller
	case a.Program == "":
		return c, fmt.Errorf("subject %s names no controller: the adapter %s needs the path of one", s.Name, a.Name)
	default:
		if c.path, err = exec.LookPath(a.Program); err != nil {
			return c, fmt.Errorf("the controller of subject %s: %w; name another path", s.Name, err)
		}
	}
	if a.Uses("Supports") || a.Uses("Lacks") {
		c.help.Whole = true
		c.help.Flags, err = supportedFlags(ctx, c.path)
	}
	return c, err
}

// tell adds the path and the known flags of the controller to the adapter's data.
func (c controller) tell(data adapter.Data) adapter.Data {
	data.Controller, data.Help = c.path, c.help
	return data
}

// Prepare starts the simulated cluster of a subject.
func (d Driver) Prepare(ctx context.Context, s subject.Subject, in driver.Options) (driver.Instance, error) {
	if err := driver.SupportsSubject(d, s); err != nil {
		return nil, err
	}
	a, err := adapters.Find(s.Adapter)
	if err != nil {
		return nil, err
	}
	if s.IsImage() {
		return d.prepareImage(ctx, a, s, in)
	}
	c, err := d.controller(ctx, a, s)
	if err != nil {
		return nil, err
	}
	cluster, err := simulated.Prepare(s, in, d.PortBase)
	if err != nil {
		return nil, err
	}
	r := &runtime{cluster: cluster, root: cluster.Root}
	if r.setup, err = d.expand(a, c, cluster); err != nil {
		return nil, errors.Join(err, cluster.Discard(ctx))
	}
	if d.HostPaths && r.setup.Isolation != nil {
		r.root, r.setup.Isolation = "/", nil
	}
	return cluster.WithRuntime(ctx, r.setup, r)
}

// expand expands the adapter of a subject.
func (d Driver) expand(a *adapter.Adapter, c controller, cluster *simulated.Instance) (*adapter.Setup, error) {
	data := c.tell(cluster.Data())
	data.Kubeconfig, data.Root = cluster.Kubeconfig(), cluster.Root
	setup, err := a.Expand(data)
	if err != nil || !d.HostPaths || setup.Isolation == nil {
		return setup, err
	}
	if cluster.Subject.Webhook {
		return nil, fmt.Errorf("subject %s: its webhook needs its own files, and --allow-host-paths writes none: remove that flag or webhook: true", cluster.Subject.Name)
	}
	data.Root = "" // its files are at their own paths, where this driver writes nothing
	onHost, err := a.Expand(data)
	if err == nil {
		onHost.Files = nil
	}
	return onHost, err
}
