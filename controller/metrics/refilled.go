package metrics

import (
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// refilled are gauges whose series are all replaced at once: a scrape sees either all old series or
// all new ones.
type refilled struct {
	empty func() *prometheus.GaugeVec
	now   atomic.Pointer[prometheus.GaugeVec]
}

func newRefilled(empty func() *prometheus.GaugeVec) *refilled {
	r := &refilled{empty: empty}
	r.now.Store(empty())
	return r
}

// refill replaces all series with those that fill adds.
func (r *refilled) refill(fill func(*prometheus.GaugeVec)) {
	next := r.empty()
	fill(next)
	r.now.Store(next)
}

// Describe implements prometheus.Collector.
func (r *refilled) Describe(to chan<- *prometheus.Desc) { r.now.Load().Describe(to) }

// Collect implements prometheus.Collector.
func (r *refilled) Collect(to chan<- prometheus.Metric) { r.now.Load().Collect(to) }
