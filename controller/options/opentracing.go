package options

import (
	"slices"
	"strings"
)

// unreadTracers reports keys of OpenTracing that have no effect: ingress-nginx removed OpenTracing
// in 1.10, and nginx.conf loads no module for it. It reports nothing if a snippet of the ConfigMap
// mentions OpenTracing and so may load the module.
func (o Options) unreadTracers(defaults Config) []Problem {
	var problems []Problem
	loads := func(snippet string) bool { return strings.Contains(snippet, "opentracing") }
	if slices.ContainsFunc(o.Config.snippets(), loads) {
		return nil
	}
	for _, key := range table {
		if !key.ofOpenTracing() {
			continue
		}
		if text := key.show(&o.Config); text != key.show(&defaults) {
			problems = append(problems, Problem{
				Key: key.Name, Value: text,
				Reason: "no module of nginx reads it, because ingress-nginx removed OpenTracing in 1.10; use enable-opentelemetry, or load a module with main-snippet and http-snippet",
			})
		}
	}
	return problems
}

func (k Key) ofOpenTracing() bool {
	tracer, _, _ := strings.Cut(k.Name, "-")
	return tracer == "zipkin" || tracer == "jaeger" || tracer == "datadog"
}

// snippets returns the snippets of the ConfigMap.
func (c *Config) snippets() []string {
	return []string{c.MainSnippet, c.HTTPSnippet, c.ServerSnippet, c.LocationSnippet, c.StreamSnippet}
}
