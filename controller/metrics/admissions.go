package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// admissions are about the webhook that checks ingresses.
type admissions struct {
	tested, testedFor     prometheus.Gauge
	rendered, renderedFor prometheus.Gauge
	size, roundtrip       prometheus.Gauge
	successes, failures   *prometheus.CounterVec
}

func newAdmissions(mint maker) admissions {
	of := []string{"namespace", "ingress"}
	return admissions{
		tested:      mint.gauge("admission_tested_ingresses", "Ingresses in the configuration that was last checked by admission."),
		testedFor:   mint.gauge("admission_tested_duration", "Seconds that working out this configuration took."),
		rendered:    mint.gauge("admission_render_ingresses", "Ingresses in the configuration that was last rendered by admission."),
		renderedFor: mint.gauge("admission_render_duration", "Seconds that rendering it took."),
		size:        mint.gauge("admission_config_size", "Bytes of the rendered configuration."),
		roundtrip:   mint.gauge("admission_roundtrip_duration", "Seconds from the question to the answer."),
		successes:   mint.counters("check_success", "Ingresses that admission let through.", of...),
		failures:    mint.counters("check_errors", "Ingresses that admission refused.", of...),
	}
}

func (a *admissions) all() []prometheus.Collector {
	return []prometheus.Collector{a.tested, a.testedFor, a.rendered, a.renderedFor, a.size, a.roundtrip, a.successes, a.failures}
}

// Admission is what checking one ingress took. What was not come to is 0.
type Admission struct {
	Namespace, Ingress string
	Refused            bool
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
	if c.Refused {
		a.failures.WithLabelValues(c.Namespace, c.Ingress).Inc()
	} else {
		a.successes.WithLabelValues(c.Namespace, c.Ingress).Inc()
	}
}
