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
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// metrics are the figures at /metrics, with the names and labels of kube-apiserver.
type metrics struct {
	handler  http.Handler
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	watches  *prometheus.GaugeVec

	mu     sync.RWMutex
	series map[requestKey]*series // because looking them up by labels is slow
}

var targetLabels = []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}

const maxSeries = 10000

// requestKey identifies requests that are counted together.
type requestKey struct {
	resource                 *resource.Resource // nil for an unknown one
	verb, subresource, scope string
	dryRun                   bool
	code                     int
}

// series are the figures of requests with the same key.
type series struct {
	requests prometheus.Counter
	seconds  prometheus.Observer // nil for watches
}

func newMetrics(version string, state *cluster.State) *metrics {
	m := &metrics{
		series: map[requestKey]*series{},
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

// objectCounts counts the stored objects at each scrape.
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
	if r.Method != http.MethodGet || r.Resource == nil || metricVerb(r) != "WATCH" {
		return func() {}
	}
	open := m.watches.WithLabelValues(keyOf(r, 0).target()...)
	open.Inc()
	return open.Dec
}

// count counts an answered request.
func (m *metrics) count(r *request, code int, took time.Duration) {
	key := keyOf(r, code)
	m.mu.RLock()
	known := m.series[key]
	m.mu.RUnlock()
	if known == nil {
		known = m.add(key)
	}
	known.requests.Inc()
	if known.seconds != nil {
		known.seconds.Observe(took.Seconds())
	}
}

func (m *metrics) add(key requestKey) *series {
	dryRun := ""
	if key.dryRun {
		dryRun = "All"
	}
	s := &series{requests: m.requests.WithLabelValues(append([]string{strconv.Itoa(key.code), dryRun}, key.target()...)...)}
	if key.verb != "WATCH" {
		s.seconds = m.seconds.WithLabelValues(append([]string{dryRun}, key.target()...)...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.series) >= maxSeries { // each changed definition leaves unused series
		clear(m.series)
	}
	m.series[key] = s
	return s
}

// target returns the values of targetLabels.
func (k requestKey) target() []string {
	if k.resource == nil {
		return []string{k.verb, "", "", "", "", k.scope, "apiserver"}
	}
	return []string{k.verb, k.resource.Group, k.resource.Version, k.resource.Name, k.subresource, k.scope, "apiserver"}
}

func keyOf(r *request, code int) requestKey {
	k := requestKey{resource: r.Resource, verb: metricVerb(r), scope: "cluster", dryRun: len(r.query["dryRun"]) > 0, code: code}
	switch {
	case r.Resource == nil:
		return k
	case r.Name != "":
		k.scope = "resource"
	case r.Namespace != "":
		k.scope = "namespace"
	}
	if r.Resource.Has(r.Subresource) { // other values come from clients and must not become labels
		k.subresource = r.Subresource
	}
	return k
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
