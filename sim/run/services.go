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

// checkServices returns an error for each lane that cannot reach the service that it names, or any.
func checkServices(s *scenario.Scenario, population corpus.Population) error {
	var errs []error
	for _, lane := range s.Traffic {
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
		const port = "with a port for plain TCP and UDP"
		var names []string
		for _, service := range streamServices(population) {
			if wanted == "" || service.Key() == wanted {
				return "", ""
			}
			names = append(names, service.Name)
		}
		if len(names) == 0 {
			return "the population has no service " + port, "use another lane, or a generated population with streams: true"
		}
		return fmt.Sprintf("the population has no service %s %s", lane.Service, port), someOf("services", names, lane.Service)
	}
	if wanted == "" {
		return "", ""
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
