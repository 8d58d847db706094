package metrics

import "github.com/prometheus/client_golang/prometheus"

// Orphan is an ingress with a path whose service is missing or has no endpoint.
type Orphan struct {
	Namespace, Ingress string
	Type               string // NoService or NoEndpoint
}

// The types of orphans.
const (
	NoService  = "no-service"
	NoEndpoint = "no-endpoint"
)

// orphans is the metric of orphans.
type orphans struct{ ingresses *refilled }

func newOrphans(mint maker) orphans {
	return orphans{newRefilled(func() *prometheus.GaugeVec {
		return mint.gauges("orphan_ingress", "1 for each ingress with a path whose service is missing or has no endpoint.", "namespace", "ingress", "type")
	})}
}

func (o *orphans) all() []prometheus.Collector { return []prometheus.Collector{o.ingresses} }

// Orphans sets all orphans. It replaces those of the previous call.
func (o *orphans) Orphans(found []Orphan) {
	o.ingresses.refill(func(next *prometheus.GaugeVec) {
		for _, orphan := range found {
			next.WithLabelValues(orphan.Namespace, orphan.Ingress, orphan.Type).Set(1)
		}
	})
}
