package run

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/traffic"
)

// attacks returns the traffic of a round, one attack for each lane of the scenario, without
// seeds and rates.
func (r *rig) attacks(o Options) []traffic.Attack {
	var attacks []traffic.Attack
	to := r.addresses()
	for _, lane := range o.Scenario.Traffic {
		attack := traffic.Attack{
			Lane: lane.Lane, To: to.of(lane.Lane), Subject: r.name, Log: r.log,
			Last: lane.Last, Bytes: lane.Bytes, TLS: to.tls, Zipf: lane.Zipf,
		}
		if slices.Contains(traffic.StreamLanes(), lane.Lane) {
			attack.Targets = r.streamTargets(lane, to.streams)
		} else {
			attack.Targets = r.hostTargets(lane)
		}
		attacks = append(attacks, attack)
	}
	return attacks
}

// hostTargets returns the URLs that a lane requests.
func (r *rig) hostTargets(lane scenario.Traffic) []traffic.Target {
	var targets []traffic.Target
	for _, target := range targetsOf(lane, r.population) {
		targets = append(targets, traffic.Target{Host: target.Host, Path: target.Path, Service: target.Service, TLS: target.TLS})
	}
	if len(targets) == 0 { // the host is a manifest's
		return []traffic.Target{{Host: lane.Host, Path: "/", Service: qualified(lane.Service, r.population.Namespace)}}
	}
	return targets
}

// targetsOf returns the targets of a population that a lane requests. Lanes of nginx's HTTPS port request
// those of an imported cluster that have TLS.
func targetsOf(lane scenario.Traffic, population corpus.Population) []corpus.Target {
	return slices.DeleteFunc(slices.Clone(population.Targets()), func(t corpus.Target) bool {
		plain := population.Cluster != nil && !t.TLS && traffic.ListenerOf(lane.Lane) == traffic.TLS
		return plain || lane.Host != "" && lane.Host != t.Host
	})
}

// checkLanes returns an error for a lane that an imported cluster has nothing for.
func checkLanes(s *scenario.Scenario, population corpus.Population) error {
	for _, lane := range s.Traffic {
		switch {
		case population.Cluster == nil || lane.Host != "":
		case traffic.ChoosesPaths(lane.Lane):
			return fmt.Errorf("%s:%d: lane %s: its requests are for paths of their own, which no imported cluster has: use a generated population", s.File, lane.Line, lane.Lane)
		case len(targetsOf(lane, population)) == 0:
			return fmt.Errorf("%s:%d: lane %s: the cluster has no target with TLS", s.File, lane.Line, lane.Lane)
		}
	}
	return nil
}

// streamTargets returns the ports of nginx that lead to services over TCP or UDP. They have
// the name of the service as their host.
func (r *rig) streamTargets(lane scenario.Traffic, ports []netip.AddrPort) []traffic.Target {
	var targets []traffic.Target
	for i, service := range streamServices(r.population) {
		if i < len(ports) && (lane.Service == "" || qualified(lane.Service, r.population.Namespace) == service.Key()) {
			targets = append(targets, traffic.Target{Host: service.Name, Service: service.Key(), To: ports[i]})
		}
	}
	return targets
}

// addresses are where the clients of the lanes reach nginx.
type addresses struct {
	http, tls netip.AddrPort
	streams   []netip.AddrPort
}

func (r *rig) addresses() addresses {
	if distant, ok := r.instance.(driver.Distant); ok && distant.Generators() != nil {
		http, tls, streams := distant.Inside()
		return addresses{http, tls, streams}
	}
	return addresses{r.instance.Address(), r.instance.TLS(), r.instance.Streams()}
}

// of returns the address for a lane.
func (a addresses) of(lane string) netip.AddrPort {
	if traffic.ListenerOf(lane) == traffic.TLS {
		return a.tls
	}
	return a.http
}

// arrivals translates when the requests of a stream are due.
func arrivals(t scenario.Traffic) traffic.Arrivals {
	a := traffic.Arrivals{Rate: float64(t.Rate), Poisson: t.Arrivals == scenario.Poisson}
	if t.Ramp != nil {
		a.To, a.Over = float64(t.Ramp.To), t.Ramp.Over
	}
	if t.Sine != nil {
		a.Swing, a.Period = float64(t.Sine.By), t.Sine.Every
	}
	return a
}

// qualified returns a service as namespace/name; empty stays empty.
func qualified(service, namespace string) string {
	if service == "" || strings.Contains(service, "/") {
		return service
	}
	return namespace + "/" + service
}
