package metrics

import "github.com/prometheus/client_golang/prometheus"

// complaints counts the complaints of nginx's Lua about configuration that it received.
type complaints struct{ made prometheus.Counter }

func newComplaints(mint maker) complaints {
	return complaints{mint.counter("dynamic_complaints_total",
		"How often nginx rejected a change at runtime, or evicted something else for it, because a dictionary is full.")}
}

func (c *complaints) all() []prometheus.Collector { return []prometheus.Collector{c.made} }

// Complained counts a complaint.
func (c *complaints) Complained() { c.made.Inc() }
