package run

import (
	"slices"

	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/scenario"
)

// namespaces returns those that objects of a run are in, without duplicates: first that of the population.
func namespaces(s *scenario.Scenario, population corpus.Population) []string {
	all := population.Namespaces()
	for _, step := range s.Timeline {
		for _, m := range slices.Concat(s.Named(step.Apply), s.Named(step.Delete)) {
			name := m.Object.GetNamespace()
			if m.Object.GetKind() == "Namespace" {
				name = m.Object.GetName()
			}
			if name != "" && !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}
