package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// admissions are the metrics of the webhook that checks ingresses.
type admissions struct {
	tested, testedFor     prometheus.Gauge
	rendered, renderedFor prometheus.Gauge
	size, roundtrip       prometheus.Gauge
	successes, failures   *prometheus.CounterVec
}

func newAdmissions(mint maker) admissions {
	of := []string{"namespace", "ingress"}
	return admissions{
		tested:      mint.gauge("admission_tested_ingresses", "Ingresses in the configuration that the admission webhook checked last."),
		testedFor:   mint.gauge("admission_tested_duration", "Seconds to compute this configuration."),
		rendered:    mint.gauge("admission_render_ingresses", "Ingresses in the configuration that the admission webhook rendered last."),
		renderedFor: mint.gauge("admission_render_duration", "Seconds to render this configuration."),
		size:        mint.gauge("admission_config_size", "Bytes of the rendered configuration."),
		roundtrip:   mint.gauge("admission_roundtrip_duration", "Seconds from the request of the API server to the answer."),
		successes:   mint.counters("check_success", "Ingresses that the admission webhook allowed.", of...),
		failures:    mint.counters("check_errors", "Ingresses that the admission webhook denied.", of...),
	}
}

func (a *admissions) all() []prometheus.Collector {
	return []prometheus.Collector{a.tested, a.testedFor, a.rendered, a.renderedFor, a.size, a.roundtrip, a.successes, a.failures}
}

// Admission is the cost of checking one ingress. A field is 0 if the check ended before that stage.
type Admission struct {
	Namespace, Ingress string
	Denied             bool
	Tested, Rendered   int // ingresses
	Size               int // bytes of nginx.conf
	Test, Render       time.Duration
	Roundtrip          time.Duration
}

// Admitted counts an answer of the webhook.
func (a *admissions) Admitted(c Admission) {
	a.tested.Set(float64(c.Tested))
	a.testedFor.Set(c.Test.Seconds())
	a.rendered.Set(float64(c.Rendered))
	a.renderedFor.Set(c.Render.Seconds())
	a.size.Set(float64(c.Size))
	a.roundtrip.Set(c.Roundtrip.Seconds())
	if c.Denied {
		a.failures.WithLabelValues(c.Namespace, c.Ingress).Inc()
	} else {
		a.successes.WithLabelValues(c.Namespace, c.Ingress).Inc()
	}
}
