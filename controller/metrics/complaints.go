package metrics

import "github.com/prometheus/client_golang/prometheus"

// complaints are about what nginx's Lua is sent.
type complaints struct{ made prometheus.Counter }

func newComplaints(mint maker) complaints {
	return complaints{mint.counter("dynamic_complaints_total",
		"How often nginx did not take what it was sent at runtime, or only in the place of something else: a dictionary is full.")}
}

func (c *complaints) all() []prometheus.Collector { return []prometheus.Collector{c.made} }

// Complained counts one.
func (c *complaints) Complained() { c.made.Inc() }
