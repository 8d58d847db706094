package report

import (
	"fmt"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
)

// populationLines describes an imported population, and names what requests do not ask for.
func populationLines(p *event.Population) []string {
	if p == nil {
		return nil
	}
	lines := []string{plainLine(fmt.Sprintf("cluster %s: %s, %s with %s (%d more %s not ready), %s",
		p.File, plural.Of(p.Ingresses, "ingress", "ingresses"), plural.Of(p.Services, "service"), plural.Of(p.Pods, "pod"), p.Unready, plural.Noun(p.Unready, "is", "are"), plural.Of(p.Targets, "target")))}
	for _, left := range p.LeftOut {
		lines = append(lines, plainLine("not included: "+left.String()))
	}
	return lines
}
