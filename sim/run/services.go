package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/traffic"
)

// checkServices returns an error for each lane that names a service which it cannot reach.
func checkServices(s *scenario.Scenario, population corpus.Population) error {
	var errs []error
	for _, lane := range s.Traffic {
		if lane.Service == "" {
			continue
		}
		what, mend := unreachable(lane, population)
		if what != "" {
			errs = append(errs, scenario.Problem{File: s.File, Line: lane.Line, What: fmt.Sprintf("lane %s: %s", lane.Lane, what), Mend: mend})
		}
	}
	return errors.Join(errs...)
}

// unreachable returns why no request of a lane reaches its service, and how to fix that; or "".
func unreachable(lane scenario.Traffic, population corpus.Population) (what, mend string) {
	wanted := qualified(lane.Service, population.Namespace)
	if slices.Contains(traffic.StreamLanes(), lane.Lane) {
		var names []string
		for _, service := range population.Services {
			if service.Key() == wanted {
				return "", ""
			}
			names = append(names, service.Name)
		}
		return "the population has no service " + lane.Service, someOf("services", names, lane.Service)
	}
	var others []string
	for _, target := range targetsOf(lane, population) {
		if target.Service != wanted {
			others = append(others, target.Service)
		}
	}
	if lane.Host == "" || len(others) == 0 { // the host is a manifest's
		return "", ""
	}
	slices.Sort(others)
	return fmt.Sprintf("the host %s of the population leads to %s, not only to %s", lane.Host, strings.Join(slices.Compact(others), ", "), wanted), "remove service:"
}
