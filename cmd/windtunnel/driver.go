package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/engine"
	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/cluster"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// driverFlags contains the flags that select a driver, and what it runs.
type driverFlags struct {
	name       string // empty: local
	controller string // path of a binary
	unbundled  bool   // no subject runs the bundled controller
	subjects   int    // number of those that need ports; 0 means 1
	image      string
	portBase   int
	nginx      string // path of a binary
	hostPaths  bool   // controllers other than ours may write to fixed paths of this machine
	kubeadm    string // path of a file
	kind       kind.Driver

	set                 *pflag.FlagSet // of the command; nil if it has no --driver
	existing            bool           // whether the command has the flags of the cluster driver
	kubeconfig, context string         // of that driver
	traffic             int            // pods
	harness             string         // image
}

// drivers lists all drivers, one per line. open returns the driver, or an error that says what this
// machine lacks for it.
var drivers = []struct {
	name, where string
	open        func(context.Context, driverFlags) (driver.Driver, error)
}{
	{"local", "processes of this machine", openLocal},
	{"container", "containers of this machine", openContainer},
	{"kind", "one cluster per subject", openKind},
	{"cluster", "an existing cluster, for run, ab and replay", openCluster},
}

// add adds the flags that all commands with a driver share.
func (f *driverFlags) add(command *cobra.Command) {
	flags := command.Flags()
	f.set = flags
	var all, names []string
	for _, d := range drivers {
		all, names = append(all, d.name+" ("+d.where+")"), append(names, d.name)
	}
	flags.StringVar(&f.name, "driver", "local", "where subjects run: "+strings.Join(all, ", "))
	addNginx(flags, &f.nginx)
	flags.BoolVar(&f.hostPaths, "allow-host-paths", false, "with --driver local: let controllers that use fixed paths, such as /etc/nginx, use those of this machine, if it does not allow isolating them")
	flags.StringVar(&f.image, "image", "", "with --driver container, kind or cluster: image that replaces the bundled controller's (default: "+engine.Image+")")
	flags.StringVar(&f.kind.Cluster.Image, "kind-image", "", "with --driver kind: the image of the nodes (default: kind's own, which is pulled)")
	flags.IntVar(&f.kind.Pool, "pool", 0, "number of real pods that act as the simulated pods. With --driver kind (default: none; pods are listeners on this machine), --driver cluster (default: as many as the scenario needs), or case run --kubeconfig (default: up to 28, or what the largest case needs)")
	flags.StringVar(&f.kubeadm, "kubeadm", "", "with --driver kind: a file that patches kubeadm's configuration")
	flags.StringVar(&f.kind.Cluster.Keep, "keep", "", "with --driver kind: keep the clusters under this name; the next run with the same name empties and reuses them")
	completes(command, "driver", names...)
}

// addCluster adds the flags of the driver cluster.
func (f *driverFlags) addCluster(flags *pflag.FlagSet) {
	f.existing = true
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "with --driver cluster: kubeconfig of the cluster (default: as kubectl finds it)")
	flags.StringVar(&f.context, "context", "", "with --driver cluster: context to use (default: the current one)")
	flags.IntVar(&f.traffic, "traffic-pods", 1, "with --driver cluster: number of pods that share the requests; 0: this process sends them")
	flags.StringVar(&f.harness, "harness-image", cluster.HarnessImage, "with --driver cluster: image with windtunnel, for pods in the cluster")
}

// addController adds the flag for the controller's binary.
func (f *driverFlags) addController(flags *pflag.FlagSet) {
	flags.StringVar(&f.controller, "controller", "", "the bundled controller's binary (default: next to this one)")
}

// addPortBase adds the flag for the subjects' ports.
func (f *driverFlags) addPortBase(flags *pflag.FlagSet) {
	flags.IntVar(&f.portBase, "port-base", 0, "first port of the first subject; each subject gets ten ports (default: free ports)")
}

// replacesController reports whether another controller may replace the bundled one.
func (f driverFlags) replacesController() bool { return f.controller != "" || f.image != "" }

func (f driverFlags) isLocal() bool { return f.name == "" || f.name == "local" }

// meantFor lists the drivers that use a flag. Flags that each driver checks itself are not in it.
var meantFor = []struct {
	flag    string
	drivers []string
}{
	{"allow-host-paths", []string{"local"}},
	{"port-base", []string{"local", "container"}},
	{"image", []string{"container", "kind", "cluster"}},
	{"pool", []string{"kind", "cluster"}},
	{"kind-image", []string{"kind"}},
	{"kubeadm", []string{"kind"}},
	{"keep", []string{"kind"}},
}

// meantForCluster lists the flags of addCluster. Other commands use some of these names for other purposes.
var meantForCluster = []string{"kubeconfig", "context", "traffic-pods", "harness-image"}

// checkMeant returns an error if a flag was set that is meant for other drivers.
func (f driverFlags) checkMeant(driver string) error {
	if f.set == nil {
		return nil
	}
	refuse := func(flag, drivers string) error {
		return fmt.Errorf("--%s is for --driver %s, and the driver is %s: choose another --driver, or omit --%s", flag, drivers, driver, flag)
	}
	for _, m := range meantFor {
		if f.set.Changed(m.flag) && !slices.Contains(m.drivers, driver) {
			return refuse(m.flag, strings.Join(m.drivers, " or "))
		}
	}
	if used := changed(f.set, meantForCluster); f.existing && driver != "cluster" && used != "" {
		return refuse(used, "cluster")
	}
	return nil
}

// open returns the driver that the flags select.
func (f driverFlags) open(ctx context.Context) (driver.Driver, error) {
	if !f.isLocal() && f.nginx != "" {
		return nil, fmt.Errorf("--nginx-binary=%s: images have their own nginx; use --driver local", f.nginx)
	}
	if err := errors.Join(f.checkPorts(), useNginx(f.nginx)); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range drivers {
		if d.name == f.name || d.name == "local" && f.isLocal() {
			if err := f.checkMeant(d.name); err != nil {
				return nil, err
			}
			return d.open(ctx, f)
		}
		names = append(names, d.name)
	}
	return nil, fmt.Errorf("there is no driver %q: want one of %s", f.name, strings.Join(names, ", "))
}

func openLocal(_ context.Context, f driverFlags) (driver.Driver, error) {
	controller, err := bundledController(f.controller)
	if err != nil && !f.unbundled {
		return nil, err
	}
	d := local.Driver{Bundled: controller, Replaced: f.controller != "", PortBase: f.portBase, HostPaths: f.hostPaths}
	if f.unbundled { // adapters say what other controllers need
		return d, nil
	}
	return d, doctor.Fit()
}

// bundledController finds the controller's binary: at path, or next to our own binary if path is
// empty.
func bundledController(path string) (string, error) {
	named := path != ""
	if !named {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		path = filepath.Join(filepath.Dir(self), "nginx-ingress-controller")
	}
	if _, err := os.Stat(path); err != nil {
		if named {
			return "", fmt.Errorf("--controller %s: %w", path, err)
		}
		return "", fmt.Errorf("the controller is not at %s: build it (make build), or name it with --controller", path)
	}
	return filepath.Abs(path) // a bare name would be looked up on PATH
}

func openContainer(ctx context.Context, f driverFlags) (driver.Driver, error) {
	if f.controller != "" {
		return nil, fmt.Errorf("--controller=%s is a binary, but containers run images: name one with --image", f.controller)
	}
	d := container.Driver{Image: f.image, PortBase: f.portBase}
	if f.unbundled { // the images of the subjects are looked for when they start
		return d, nil
	}
	return d, d.Available(ctx)
}

func openKind(_ context.Context, f driverFlags) (driver.Driver, error) {
	if f.controller != "" {
		return nil, fmt.Errorf("--controller=%s is a binary, but pods run images: name one with --image", f.controller)
	}
	if f.kind.Pool < 0 {
		return nil, fmt.Errorf("--pool=%d: want 1 or more, or 0 for none", f.kind.Pool)
	}
	d := f.kind
	d.Controller = f.image
	if f.kubeadm != "" {
		patch, err := os.ReadFile(f.kubeadm)
		if err != nil {
			return nil, err
		}
		d.Cluster.Kubeadm = string(patch)
	}
	return d, nil
}

func openCluster(ctx context.Context, f driverFlags) (driver.Driver, error) {
	if !f.existing {
		return nil, errors.New("this command cannot use --driver cluster: windtunnel run, ab and replay can")
	}
	if f.controller != "" {
		return nil, fmt.Errorf("--controller=%s is a binary, but pods run images: name one with --image", f.controller)
	}
	api, err := liveCluster(f.kubeconfig, f.context)
	if err != nil {
		return nil, err
	}
	var d *cluster.Driver
	err = untilDone(ctx, func() (err error) { // nothing is started, and its client waits for answers to POSTs
		d, err = cluster.Open(ctx, cluster.Options{
			API: api, Image: f.image, Harness: f.harness, Pool: f.kind.Pool, Traffic: f.traffic,
			Tell: func(notice string) { fmt.Fprintln(os.Stderr, "windtunnel:", notice) },
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// forSubjectsOf returns the flags with the number of subjects of one scenario that need ports, and whether
// no subject runs the bundled controller.
func (f driverFlags) forSubjectsOf(all ...*scenario.Scenario) driverFlags {
	f.unbundled = !slices.ContainsFunc(all, trial.UsesBundled)
	for _, s := range all {
		f.subjects = max(f.subjects, len(s.Subjects))
	}
	return f
}

// checkBundled returns an error if a flag names the bundled controller, and no subject runs it. A command
// calls it once, for all its subjects.
func (f driverFlags) checkBundled() error {
	if !f.unbundled || !f.replacesController() {
		return nil
	}
	flag := "image"
	if f.controller != "" {
		flag = "controller"
	}
	return fmt.Errorf("--%s has no effect: it names the bundled controller, and no subject runs that: leave the flag out, or let a subject run bundled", flag)
}

// checkPorts returns an error if not all ports of the subjects are valid.
func (f driverFlags) checkPorts() error {
	subjects := max(f.subjects, 1)
	if most := 1<<16 - subjects*adapter.PortCount; f.portBase < 0 || f.portBase > most {
		return fmt.Errorf("--port-base=%d: want 1 to %d, so that there are %d ports for each of %s", f.portBase, most, adapter.PortCount, plural.Of(subjects, "subject"))
	}
	return nil
}

func addNginx(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "nginx-binary", "", "with --driver local: the nginx binary to run (default: $NGINX_BINARY, or the first one found)")
}

// useNginx makes this process, and the controllers that it starts, run the given nginx.
func useNginx(path string) error {
	if path == "" {
		return nil
	}
	found, err := exec.LookPath(path)
	if err == nil {
		found, err = filepath.Abs(found)
	}
	if err != nil {
		return fmt.Errorf("--nginx-binary=%s cannot be run: %w", path, err)
	}
	return os.Setenv(nginx.BinaryVariable, found)
}
