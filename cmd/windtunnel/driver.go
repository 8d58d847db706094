package main

import (
	"context"
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
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
)

// place is where subjects run, as the command line says.
type place struct {
	driver  string
	image   string
	kubeadm string // a file
	kind    kind.Driver
	nginx   string // a binary
	host    bool   // controllers that are not ours may write to fixed paths of this machine
}

// drivers are the places there are, a line each. Each is opened with what it needs
// on this machine, or an error that says what is missing.
var drivers = []struct {
	name, where string
	open        func(runOptions) (driver.Driver, error)
}{
	{"local", "processes of this machine", openLocal},
	{"container", "containers of this machine", openContainer},
	{"kind", "a cluster each", openKind},
}

func (p *place) add(command *cobra.Command) {
	flags := command.Flags()
	var all, names []string
	for _, d := range drivers {
		all, names = append(all, d.name+" ("+d.where+")"), append(names, d.name)
	}
	flags.StringVar(&p.driver, "driver", "local", "where subjects run: "+strings.Join(all, ", "))
	addNginx(flags, &p.nginx)
	flags.BoolVar(&p.host, "allow-host-paths", false, "with --driver local: run a controller without the flag --nginx-root, although it writes to "+local.HostPaths+" of this machine")
	flags.StringVar(&p.image, "image", "", "with --driver container or kind: the bundled controller's image, or what is to run in its place (default: "+engine.Image+")")
	flags.StringVar(&p.kind.Cluster.Image, "kind-image", "", "with --driver kind: the image of the nodes (default: kind's own, which is pulled)")
	flags.IntVar(&p.kind.Pool, "pool", 0, "with --driver kind: have so many real pods be the simulated ones (default: listeners of this machine are)")
	flags.StringVar(&p.kubeadm, "kubeadm", "", "with --driver kind: a file that patches kubeadm's configuration")
	flags.StringVar(&p.kind.Cluster.Keep, "keep", "", "with --driver kind: leave the clusters there by this name; the next run that keeps by it empties and uses them")
	completes(command, "driver", names...)
}

// driver makes the driver that was asked for.
func (o runOptions) driver() (driver.Driver, error) {
	if local := o.place.driver == "" || o.place.driver == "local"; !local && o.place.nginx != "" {
		return nil, fmt.Errorf("--nginx-binary=%s: images have their own nginx; use --driver local", o.place.nginx)
	}
	if err := useNginx(o.place.nginx); err != nil {
		return nil, err
	}
	var names []string
	for _, d := range drivers {
		if d.name == o.place.driver || d.name == "local" && o.place.driver == "" {
			return d.open(o)
		}
		names = append(names, d.name)
	}
	return nil, fmt.Errorf("there is no driver %q: want one of %s", o.place.driver, strings.Join(names, ", "))
}

func openLocal(o runOptions) (driver.Driver, error) {
	controller, err := bundledController(o.controller)
	if err != nil {
		return nil, err
	}
	return local.Driver{Bundled: controller, PortBase: o.portBase, HostPaths: o.place.host}, doctor.Fit()
}

func openContainer(o runOptions) (driver.Driver, error) {
	if o.controller != "" {
		return nil, fmt.Errorf("--controller=%s is a binary, and in containers images run: name one by --image", o.controller)
	}
	d := container.Driver{Image: o.place.image, PortBase: o.portBase}
	return d, d.Fit(context.Background())
}

func openKind(o runOptions) (driver.Driver, error) {
	d := o.place.kind
	d.Controller = o.place.image
	if o.place.kubeadm != "" {
		patch, err := os.ReadFile(o.place.kubeadm)
		if err != nil {
			return nil, err
		}
		d.Cluster.Kubeadm = string(patch)
	}
	return d, nil
}

// with is the options for another controller in place of the bundled one: a binary,
// or with drivers that run images, an image.
func (o runOptions) with(controller string) runOptions {
	if controller == "" {
		return o
	}
	if slices.Contains([]string{"", "local"}, o.place.driver) {
		o.controller = controller
	} else {
		o.place.image = controller
	}
	return o
}

func addNginx(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "nginx-binary", "", "with --driver local: the nginx binary to run (default: $NGINX_BINARY, or the first one found)")
}

// useNginx has us, and the controllers that we start, run this nginx.
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
