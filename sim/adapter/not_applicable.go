package adapter

import (
	"slices"
	"strings"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/specfile"
)

// Measurements are the names of the measurements that an adapter can declare not applicable. They
// depend on what the harness knows about the controller's processes and log. All others, which come
// from clients and from the arrival of changes, apply to every controller.
var Measurements = []string{
	"reloads", "posts", "syncs", "syncs.failed", "syncs.phases", "converge.way.wait", "converge.way.sync", "converge.way.reach",
	"workers.generations", "workers.alive", "workers.replaced", "workers.draining", "workers.drained", "workers.left", "workers.crashed",
	"cpu.controller", "trend.controllerRSS", "trend.controllerFiles",
	"heap", "trend.controllerHeap", "dictionaries", "trend.nginxDictionaries",
}

// NotApplicable names measurements that the controller cannot have, or that nothing can observe.
type NotApplicable struct {
	// Their names, as in expectations: reloads, posts, syncs, converge.way.sync and others that docs/adapters.md lists. A name covers all below it.
	Measurements []string `yaml:"measurements" jsonschema:"required"`
	// Why, a template. If it expands to nothing, they apply.
	Why string `yaml:"why" jsonschema:"required"`
}

// Inapplicable returns the measurements that do not apply to the subject: those that the adapter
// names, and those that follow from its processes and its log lines.
func (s *Setup) Inapplicable() []event.NotApplicable {
	var all []event.NotApplicable
	var named []string
	add := func(why string, measurements ...string) {
		measurements = slices.DeleteFunc(slices.Clone(measurements), func(name string) bool {
			return slices.ContainsFunc(named, func(before string) bool { return name == before || strings.HasPrefix(name, before+".") })
		})
		named = append(named, measurements...)
		if len(measurements) > 0 {
			all = append(all, event.NotApplicable{Measurements: measurements, Why: why})
		}
	}
	for _, n := range s.NotApplicable {
		add(n.Why, n.Measurements...)
	}
	if s.Processes.Workers == Single {
		add("one process answers all requests, and no reload replaces it",
			"reloads", "workers.generations", "workers.alive", "workers.replaced", "workers.draining", "workers.drained", "workers.left")
		if s.Processes.Master.IsZero() && s.Processes.PIDFile == "" {
			add("the controller answers the requests itself, so it counts as the proxy",
				"cpu.controller", "trend.controllerRSS", "trend.controllerFiles")
		}
	}
	isRecord := func(l Line) bool { return l.Record != "" }
	if len(s.Log) == 0 {
		add("its adapter has no pattern for log lines about syncs", "syncs")
	}
	if !slices.ContainsFunc(s.Log, isRecord) {
		add("its log does not report POSTs", "posts")
		add("its log does not report failed syncs", "syncs.failed")
		add("its log does not report the phases of a reload", "syncs.phases")
	}
	if !slices.ContainsFunc(s.Log, func(l Line) bool { return isRecord(l) || l.tellsTook() }) {
		add("its log does not report the duration of syncs", "converge.way.wait", "converge.way.sync", "converge.way.reach")
	}
	if s.Metrics == "" {
		add("its adapter has no metrics endpoint", "heap", "trend.controllerHeap", "dictionaries", "trend.nginxDictionaries")
	}
	return all
}

// tellsTook reports whether lines say how long the sync took.
func (l Line) tellsTook() bool {
	return l.Match.expression != nil && slices.Contains(l.Match.expression.SubexpNames(), "took")
}

func (c *checker) notApplicable() {
	for i, n := range c.NotApplicable {
		at := []any{"spec", "notApplicable", i}
		if len(n.Measurements) == 0 {
			c.Problem("an entry without measurements", "add measurements:, such as [posts, syncs]", at...)
		}
		if n.Why == "" {
			c.Problem("an entry without a reason", "add why: and a sentence", at...)
		}
		for k, name := range n.Measurements {
			if !slices.Contains(Measurements, name) {
				c.Problem(name+" applies to every controller, or is not a measurement", specfile.Choose(name, "measurements that may not apply", Measurements), append(slices.Clone(at), "measurements", k)...)
			}
		}
	}
}
