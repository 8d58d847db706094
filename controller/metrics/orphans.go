package metrics

import "github.com/prometheus/client_golang/prometheus"

// Orphan is an ingress with a path that leads nowhere.
type Orphan struct {
	Namespace, Ingress string
	Type               string // NoService or NoEndpoint
}

// Why an ingress is an orphan.
const (
	NoService  = "no-service"
	NoEndpoint = "no-endpoint"
)

// orphans are about ingresses whose services are missing or have no endpoint.
type orphans struct{ ingresses *prometheus.GaugeVec }

func newOrphans(mint maker) orphans {
	return orphans{mint.gauges("orphan_ingress", "1 of an ingress with a path whose service is missing or has no endpoint.", "namespace", "ingress", "type")}
}

func (o *orphans) all() []prometheus.Collector { return []prometheus.Collector{o.ingresses} }

// Orphans says which there are now; those of before are orphans no more.
func (o *orphans) Orphans(found []Orphan) {
	o.ingresses.Reset()
	for _, orphan := range found {
		o.ingresses.WithLabelValues(orphan.Namespace, orphan.Ingress, orphan.Type).Set(1)
	}
}
