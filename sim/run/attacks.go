package run

import (
	"net/netip"
	"slices"
	"strings"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/traffic"
)

// attacks returns the traffic of a round, one attack for each lane of the scenario, without
// seeds and rates.
func (r *rig) attacks(o Options) []traffic.Attack {
	var attacks []traffic.Attack
	for _, lane := range o.Scenario.Traffic {
		attack := traffic.Attack{
			Lane: lane.Lane, To: r.address(lane.Lane), Subject: r.name, Log: r.log,
			Last: lane.Last, Bytes: lane.Bytes,
		}
		if slices.Contains(traffic.StreamLanes(), lane.Lane) {
			attack.Targets = r.streamTargets(lane)
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
	for _, target := range r.population.Targets() {
		if lane.Host == "" || lane.Host == target.Host {
			targets = append(targets, traffic.Target{Host: target.Host, Path: target.Path, Service: target.Service})
		}
	}
	if len(targets) == 0 { // the host is a manifest's
		return []traffic.Target{{Host: lane.Host, Path: "/", Service: qualified(lane.Service, r.population.Namespace)}}
	}
	return targets
}

// streamTargets returns the ports of nginx that lead to services over TCP or UDP. They have
// the name of the service as their host.
func (r *rig) streamTargets(lane scenario.Traffic) []traffic.Target {
	var targets []traffic.Target
	ports := r.instance.Streams()
	for i, service := range r.population.Services {
		if i < len(ports) && (lane.Service == "" || qualified(lane.Service, r.population.Namespace) == service.Key()) {
			targets = append(targets, traffic.Target{Host: service.Name, Service: service.Key(), To: ports[i]})
		}
	}
	return targets
}

// address returns the address at which the clients of a lane reach nginx.
func (r *rig) address(lane string) netip.AddrPort {
	if traffic.ListenerOf(lane) == traffic.TLS {
		return r.instance.TLS()
	}
	return r.instance.Address()
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
