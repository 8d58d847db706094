// Package metrics counts what the controller does, for Prometheus. It stands
// between the controller and its /metrics. Its one rule: names and labels are
// those of ingress-nginx, so that its dashboards keep working.
package metrics

import (
	"hash/fnv"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace begins the name of every metric of the controller.
const namespace = "nginx_ingress_controller"

// Metrics are the controller's own.
type Metrics struct {
	registry  *prometheus.Registry
	loaded    prometheus.Gauge
	loadedAt  prometheus.Gauge
	hash      prometheus.Gauge
	successes prometheus.Counter
	failures  prometheus.Counter
}

// Identity are the labels that all of the controller's metrics have.
type Identity struct {
	Namespace string // of the controller's pod
	Class     string // --controller-class
	Pod       string
}

// Build says which program this is.
type Build struct{ Release, Commit, Repository string }

// New returns metrics that start at zero. Unless full, only those of Go and the
// process are served, as ingress-nginx does without --enable-metrics.
func New(id Identity, build Build, full bool) *Metrics {
	labels := prometheus.Labels{
		"controller_namespace": id.Namespace,
		"controller_class":     id.Class,
		"controller_pod":       id.Pod,
	}
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels})
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: labels})
	}
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		loaded:    gauge("config_last_reload_successful", "Whether the last configuration that needed a reload was taken by nginx."),
		loadedAt:  gauge("config_last_reload_successful_timestamp_seconds", "When nginx last took one, in seconds since 1970."),
		hash:      gauge("config_hash", "A hash of the nginx.conf that runs."),
		successes: counter("success", "Reloads that nginx took."),
		failures:  counter("errors", "Reloads that failed."),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if full {
		m.registry.MustRegister(m.loaded, m.loadedAt, m.hash, m.successes, m.failures, buildInfo(labels, build))
	}
	return m
}

func buildInfo(labels prometheus.Labels, build Build) prometheus.Collector {
	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Namespace: namespace, Name: "build_info", Help: "Always 1; the labels say which program this is.", ConstLabels: labels,
	}, []string{"release", "build", "repository"})
	info.WithLabelValues(build.Release, build.Commit, build.Repository).Set(1)
	return info
}

// Loaded counts a configuration that nginx has taken by a start or a reload.
func (m *Metrics) Loaded(conf []byte, at time.Time) {
	hash := fnv.New32a() // 32 bits, which a float64 holds exactly
	hash.Write(conf)     // never fails
	m.hash.Set(float64(hash.Sum32()))
	m.loaded.Set(1)
	m.loadedAt.Set(float64(at.UnixNano()) / 1e9)
	m.successes.Inc()
}

// Current says that nginx runs what is wanted: what it refused before is
// wanted no more.
func (m *Metrics) Current() { m.loaded.Set(1) }

// LoadFailed counts one that it has not.
func (m *Metrics) LoadFailed() {
	m.loaded.Set(0)
	m.failures.Inc()
}

// Handler serves the metrics in Prometheus's text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.InstrumentMetricHandler(m.registry, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
}
