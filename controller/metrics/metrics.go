// Package metrics counts events of the controller and its nginx, for Prometheus. It stands between
// them and the controller's /metrics. Its one rule: names and labels are those of ingress-nginx, so
// its dashboards keep working; our own additions are new names, never new labels.
package metrics

import (
	"maps"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// namespace is the prefix of the names of all metrics of the controller.
const namespace = "nginx_ingress_controller"

// Options configure Metrics.
type Options struct {
	Identity Identity
	Build    Build
	// Full serves all metrics (--enable-metrics). Otherwise, as in ingress-nginx, only those of Go
	// and of the process are served, plus those of Lua's dictionaries.
	Full      bool
	Requests  Requests
	Election  string // name of the Lease; empty if the controller takes no part in elections
	Admission bool   // serve the metrics of the webhook
}

// Identity contains the values of the labels that all metrics of the controller have.
type Identity struct {
	Namespace string // of the controller's pod
	Class     string // --controller-class
	Pod       string
}

// Build identifies the program.
type Build struct{ Release, Commit, Repository string }

// Metrics are the metrics of the controller and of nginx. It counts all of them, even those that
// Options do not serve.
type Metrics struct {
	registry *prometheus.Registry
	full     bool
	maker    maker
	reloads
	complaints
	admissions
	certificates
	orphans
	leader
	requests *requests
}

// New returns metrics that start at zero.
func New(o Options) *Metrics {
	mint := maker{
		"controller_namespace": o.Identity.Namespace,
		"controller_class":     o.Identity.Class,
		"controller_pod":       o.Identity.Pod,
	}
	m := &Metrics{
		registry:     prometheus.NewRegistry(),
		full:         o.Full,
		maker:        mint,
		reloads:      newReloads(mint),
		complaints:   newComplaints(mint),
		admissions:   newAdmissions(mint),
		certificates: newCertificates(o.Identity),
		orphans:      newOrphans(mint),
		leader:       newLeader(mint, o.Election),
		requests:     newRequests(mint, o.Requests),
	}
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if !o.Full {
		return m
	}
	m.registry.MustRegister(buildInfo(mint, o.Build))
	m.registry.MustRegister(m.reloads.all()...)
	m.registry.MustRegister(m.complaints.all()...)
	m.registry.MustRegister(m.certificates.all()...)
	m.registry.MustRegister(m.orphans.all()...)
	m.registry.MustRegister(m.requests.all()...)
	if o.Election != "" {
		m.registry.MustRegister(m.leader.all()...)
	}
	if o.Admission {
		m.registry.MustRegister(m.admissions.all()...)
	}
	return m
}

// Handler serves the metrics in Prometheus's text format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.InstrumentMetricHandler(m.registry, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
}

func buildInfo(mint maker, build Build) prometheus.Collector {
	info := mint.gauges("build_info", "Always 1; the labels identify the program.", "release", "build", "repository")
	info.WithLabelValues(build.Release, build.Commit, build.Repository).Set(1)
	return info
}

// maker creates metrics with the labels that all metrics of the controller have.
type maker prometheus.Labels

func (m maker) gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: m.labels()})
}

func (m maker) gauges(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: m.labels()}, labels)
}

func (m maker) counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: m.labels()})
}

func (m maker) counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help, ConstLabels: m.labels()}, labels)
}

func (m maker) desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(prometheus.BuildFQName(namespace, "", name), help, labels, m.labels())
}

func (m maker) labels() prometheus.Labels { return maps.Clone(prometheus.Labels(m)) }
