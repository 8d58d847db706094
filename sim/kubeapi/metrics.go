package kubeapi

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
)

// metrics are the figures at /metrics, with the names and labels of kube-apiserver.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	watches  *prometheus.GaugeVec
	series   sync.Map // of series by requestLabels, because looking them up by labels is slow
}

var targetLabels = []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}

// requestLabels are the labels of a request.
type requestLabels struct {
	verb, group, version, resource, subresource, scope, dryRun string
	code                                                       int
}

// series are the figures of requests with the same labels.
type series struct {
	requests prometheus.Counter
	seconds  prometheus.Observer
}

func newMetrics(version string, state *cluster.State) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "apiserver_request_total",
			Help: "Requests by verb, resource and code of the answer."}, append([]string{"code", "dry_run"}, targetLabels...)),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "apiserver_request_duration_seconds",
			Help: "Time to answer requests, without watches.", Buckets: []float64{0.0005, 0.001, 0.005, 0.025, 0.1, 0.5, 1, 5, 30}}, append([]string{"dry_run"}, targetLabels...)),
		watches: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "apiserver_longrunning_requests",
			Help: "Open watches by resource."}, targetLabels),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "kubernetes_build_info", Help: "The version that the server reports.",
		ConstLabels: prometheus.Labels{"git_version": version}})
	build.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(m.requests, m.seconds, m.watches, build, objectCounts{state},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	return m
}

// objectCounts collects the number of stored objects when somebody asks for it.
type objectCounts struct{ state *cluster.State }

var objectsDescription = prometheus.NewDesc("apiserver_resource_objects", "Stored objects by resource.", []string{"group", "resource"}, nil)

func (c objectCounts) Describe(to chan<- *prometheus.Desc) { to <- objectsDescription }

func (c objectCounts) Collect(to chan<- prometheus.Metric) {
	for objects := range c.state.EveryCollection() {
		res := objects.Resource
		to <- prometheus.MustNewConstMetric(objectsDescription, prometheus.GaugeValue, float64(objects.Len()), res.Group, res.Name)
	}
}

// begin counts a watch as open until the returned function is called.
func (m *metrics) begin(r *request) (end func()) {
	if r.Resource == nil || metricVerb(r) != "WATCH" {
		return func() {}
	}
	l := labelsOf(r, 0)
	open := m.watches.WithLabelValues(l.verb, l.group, l.version, l.resource, l.subresource, l.scope, "apiserver")
	open.Inc()
	return open.Dec
}

// count counts an answered request.
func (m *metrics) count(r *request, code int, took time.Duration) {
	l := labelsOf(r, code)
	known, ok := m.series.Load(l)
	if !ok {
		target := []string{l.verb, l.group, l.version, l.resource, l.subresource, l.scope, "apiserver"}
		known, _ = m.series.LoadOrStore(l, series{
			requests: m.requests.WithLabelValues(append([]string{strconv.Itoa(code), l.dryRun}, target...)...),
			seconds:  m.seconds.WithLabelValues(append([]string{l.dryRun}, target...)...),
		})
	}
	known.(series).requests.Inc()
	if l.verb != "WATCH" {
		known.(series).seconds.Observe(took.Seconds())
	}
}

func labelsOf(r *request, code int) requestLabels {
	l := requestLabels{verb: metricVerb(r), scope: "cluster", dryRun: r.query.Get("dryRun"), code: code}
	if l.dryRun != "" {
		l.dryRun = "All" // the only valid value: clients cannot make up labels
	}
	if r.Resource == nil {
		return l
	}
	l.group, l.version, l.resource = r.Resource.Group, r.Resource.Version, r.Resource.Name
	if r.Resource.Has(r.Subresource) {
		l.subresource = r.Subresource
	}
	switch {
	case r.Name != "":
		l.scope = "resource"
	case r.Namespace != "":
		l.scope = "namespace"
	}
	return l
}

// metricVerb returns the verb of a request as kube-apiserver counts it.
func metricVerb(r *request) string {
	one := r.Name != ""
	switch {
	case r.Method == http.MethodGet && !one && watching(r):
		return "WATCH"
	case r.Method == http.MethodGet && !one:
		return "LIST"
	case r.Method == http.MethodDelete && !one:
		return "DELETECOLLECTION"
	case r.Method == http.MethodPatch && r.Header.Get("Content-Type") == string(types.ApplyYAMLPatchType):
		return "APPLY"
	case knownMethods[r.Method]:
		return r.Method
	}
	return "other"
}

var knownMethods = map[string]bool{http.MethodGet: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true}
