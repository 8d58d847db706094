package metrics

import (
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// admissions are the metrics of the webhook that checks ingresses.
type admissions struct {
	tested, testedFor     prometheus.Gauge
	rendered, renderedFor prometheus.Gauge
	size, roundtrip       prometheus.Gauge
	successes, failures   *prometheus.CounterVec
	unserved              *unserved
}

// unserved lists the ingresses that have series although nginx does not serve them, such as those that the
// webhook denied, or those of a dry run. No sync removes their series, so the list is short.
type unserved struct {
	mu     sync.Mutex
	served map[types.NamespacedName]bool
	names  []types.NamespacedName // the one that was checked last is last
}

// mostUnserved limits the ingresses with series that nginx does not serve, because users may create any
// number of names.
const mostUnserved = 1000

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
		unserved:    new(unserved),
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
	a.count(types.NamespacedName{Namespace: c.Namespace, Name: c.Ingress}, c.Denied)
}

// count counts an answer about an ingress. If too many ingresses are not served, it removes the series of
// the one among them whose last check is longest ago.
func (a *admissions) count(name types.NamespacedName, denied bool) {
	u := a.unserved
	u.mu.Lock()
	defer u.mu.Unlock()
	counters := a.successes
	if denied {
		counters = a.failures
	}
	counters.WithLabelValues(name.Namespace, name.Name).Inc()
	if u.served[name] {
		return
	}
	u.names = append(slices.DeleteFunc(u.names, func(other types.NamespacedName) bool { return other == name }), name)
	if len(u.names) > mostUnserved {
		a.remove(u.names[0])
		u.names = slices.Delete(u.names, 0, 1)
	}
}

// serves replaces the ingresses that nginx serves. It removes the series of those that are gone.
func (a *admissions) serves(now map[types.NamespacedName]bool) {
	u := a.unserved
	u.mu.Lock()
	defer u.mu.Unlock()
	for name := range u.served {
		if !now[name] {
			a.remove(name)
		}
	}
	u.served = now
	u.names = slices.DeleteFunc(u.names, func(name types.NamespacedName) bool { return now[name] })
}

func (a *admissions) remove(name types.NamespacedName) {
	a.successes.DeletePartialMatch(ofIngress(name))
	a.failures.DeletePartialMatch(ofIngress(name))
}
