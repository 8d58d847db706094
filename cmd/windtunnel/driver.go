package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
)

// place is where subjects run, as the command line says.
type place struct {
	driver  string
	kubeadm string // a file
	kind    kind.Driver
}

func (p *place) flags(flags *pflag.FlagSet) {
	flags.StringVar(&p.driver, "driver", "local", "where subjects run: local (processes of this machine) or kind (a cluster each)")
	flags.StringVar(&p.kind.Controller, "image", "", "with --driver kind: the bundled controller's image (default: "+kind.Image+")")
	flags.StringVar(&p.kind.Cluster.Image, "kind-image", "", "with --driver kind: the image of the nodes (default: kind's own, which is pulled)")
	flags.IntVar(&p.kind.Pool, "pool", 0, "with --driver kind: have so many real pods be the simulated ones (default: listeners of this machine are)")
	flags.StringVar(&p.kubeadm, "kubeadm", "", "with --driver kind: a file that patches kubeadm's configuration")
	flags.StringVar(&p.kind.Cluster.Keep, "keep", "", "with --driver kind: leave the clusters there by this name; the next run that keeps by it empties and uses them")
}

// driver makes the driver that was asked for, of what it needs on this machine.
func (o runOptions) driver() (driver.Driver, error) {
	switch o.place.driver {
	case "", "local":
		controller, err := bundledController(o.controller)
		if err != nil {
			return nil, err
		}
		return local.Driver{Bundled: controller, PortBase: o.portBase}, doctor.Fit()
	case "kind":
		d := o.place.kind
		if o.place.kubeadm != "" {
			patch, err := os.ReadFile(o.place.kubeadm)
			if err != nil {
				return nil, err
			}
			d.Cluster.Kubeadm = string(patch)
		}
		return d, nil
	}
	return nil, fmt.Errorf("there is no driver %q: local and kind are", o.place.driver)
}
