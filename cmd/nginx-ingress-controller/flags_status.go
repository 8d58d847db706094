package main

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/status"
)

// statusFlags configure leader election and the status of ingresses.
type statusFlags struct {
	noElection bool
	election   status.Election

	update     bool
	onShutdown bool
	interval   int

	service      name
	addresses    string
	nodeInternal bool
}

// leastInterval is the minimum of --status-update-interval, in seconds, as in ingress-nginx.
const leastInterval = 5

func (f *flags) addStatus() {
	s, o := f.set, &f.status
	s.BoolVar(&o.noElection, "disable-leader-election", false, "do not take part in leader elections, and so never write the status of ingresses")
	s.StringVar(&o.election.ID, "election-id", "ingress-controller-leader", "name of the Lease for leader election")
	s.DurationVar(&o.election.TTL, "election-ttl", 30*time.Second, "how long a Lease is valid without renewal; the leader renews it within half of that time; at least 1s")
	s.BoolVar(&o.update, "update-status", true, "write addresses to the status of ingresses, if this controller is the leader")
	s.BoolVar(&o.onShutdown, "update-status-on-shutdown", true, "remove the addresses on shutdown, if no other controller runs")
	s.IntVar(&o.interval, "status-update-interval", 60, "seconds between updates of the status; at least 5")
	s.Var(&o.service, "publish-service", "namespace/name of the service whose addresses become the status of ingresses")
	s.StringVar(&o.addresses, "publish-status-address", "", "addresses for the status of ingresses: IP addresses or host names, separated by commas")
	s.BoolVar(&o.nodeInternal, "report-node-internal-ip-address", false, "without a service or addresses: use the internal addresses of nodes instead of the external ones")
}

func (o *statusFlags) validate() error {
	if o.election.TTL < time.Second { // a Lease stores whole seconds, and the API server accepts no 0
		return fmt.Errorf("--election-ttl %v: must be at least 1s", o.election.TTL)
	}
	if o.election.ID == "" && !o.noElection {
		return errors.New("--election-id: must not be empty")
	}
	if o.service.Name != "" && o.addresses != "" {
		return errors.New("--publish-service and --publish-status-address exclude each other: set only one")
	}
	return nil
}

// options returns the options of the status writer; nil with --disable-leader-election.
func (o *statusFlags) options(log *slog.Logger) *status.Options {
	if o.noElection {
		return nil
	}
	interval := o.interval
	if interval < leastInterval {
		log.Warn(fmt.Sprintf("--status-update-interval %d is too short: using %d", interval, leastInterval))
		interval = leastInterval
	}
	addresses := status.Addresses{Service: types.NamespacedName(o.service), NodeInternal: o.nodeInternal}
	for text := range strings.SplitSeq(o.addresses, ",") {
		if text = strings.TrimSpace(text); text != "" {
			addresses.Fixed = append(addresses.Fixed, text)
		}
	}
	return &status.Options{
		Election:   o.election,
		Addresses:  addresses,
		Update:     o.update,
		Interval:   seconds(interval),
		OnShutdown: o.onShutdown,
	}
}
