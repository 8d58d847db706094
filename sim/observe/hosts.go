package observe

import (
	"context"
	"fmt"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/traffic"
)

// identifyPatience is how long the hosts may take to answer.
const identifyPatience = 10 * time.Second

// identify sends a request to each host, to find out whether its answers name the pod.
func (ob *observation) identify(ctx context.Context) error {
	ctx, stop := context.WithTimeout(ctx, identifyPatience)
	defer stop()
	canary := probe.StartCanary(ctx, event.NewLog(nowhere{}, time.Now()), subjectName, ob.canaryOptions())
	for i := range ob.Hosts {
		host := &ob.Hosts[i]
		if host.TLS && !ob.HTTPS.IsValid() {
			return fmt.Errorf("requests to the host %s use HTTPS: set the address with --tls-address", host.Name)
		}
		about := event.Change{Host: host.Name, Path: host.Path, TLS: host.TLS}
		if service, ok := ob.ledger.ServiceOf(*host); ok {
			about.Service = service.String()
		}
		pod, err := canary.Identifies(ctx, about)
		if err != nil {
			flag := "--address"
			if host.TLS {
				flag = "--tls-address"
			}
			return fmt.Errorf("the host %s does not answer at the address: %w; check %s", host.Name, err, flag)
		}
		host.Identified = pod != ""
	}
	return nil
}

// nowhere is a writer that discards everything.
type nowhere struct{}

func (nowhere) Write(text []byte) (int, error) { return len(text), nil }

func (ob *observation) canaryOptions() probe.CanaryOptions {
	o := probe.CanaryOptions{Address: ob.HTTP.String(), TLS: ob.HTTPS.String(), Header: ob.PodHeader}
	if ob.ProbeRate > 0 {
		o.Gap = time.Duration(float64(time.Second) / ob.ProbeRate)
	}
	return o
}

// startCanary starts the probes, if a host can show changes.
func (ob *observation) startCanary(ctx context.Context) {
	if ob.ProbeRate > 0 && ob.identified() > 0 {
		ob.canary = probe.StartCanary(ctx, ob.log, subjectName, ob.canaryOptions())
	}
}

func (ob *observation) identified() (n int) {
	for _, host := range ob.Hosts {
		if host.Identified {
			n++
		}
	}
	return n
}

// targets returns the targets of the lanes. They are anonymous unless the answers name the pod in the
// way of simulated pods, because lanes know no other names.
func (ob *observation) targets() (all []traffic.Target) {
	for _, host := range ob.Hosts {
		target := traffic.Target{Host: host.Name, Path: host.Path, TLS: host.TLS, Anonymous: !host.Identified || ob.PodHeader != ""}
		if service, ok := ob.ledger.ServiceOf(host); ok {
			target.Service = service.String()
		}
		all = append(all, target)
	}
	return all
}
