package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/types"
)

// Requests says which metrics there are of requests: ingress-nginx's flags.
type Requests struct {
	PerHost          bool // --metrics-per-host: a label for the host
	PerUndefinedHost bool // --metrics-per-undefined-host: of hosts that no ingress has, too
	StatusClasses    bool // --report-status-classes: 4xx instead of 404
	Exclude          []string

	TimeBuckets, LengthBuckets, SizeBuckets []float64
	BucketFactor                            float64 // more than 1: native histograms, too
	MaxBuckets                              uint32
}

// DefaultRequests are ingress-nginx's.
var DefaultRequests = Requests{
	PerHost:       true,
	TimeBuckets:   prometheus.DefBuckets,
	LengthBuckets: prometheus.LinearBuckets(10, 10, 10),
	SizeBuckets:   prometheus.ExponentialBuckets(10, 10, 7),
	MaxBuckets:    100,
}

// Record is what nginx's Lua tells of one request. A number is -1 where nginx
// has none, such as the pod's times of a request that reached none.
type Record struct {
	Host      string `json:"host"`
	Namespace string `json:"namespace"`
	Ingress   string `json:"ingress"`
	Service   string `json:"service"`
	Canary    string `json:"canary"`
	Path      string `json:"path"`
	Method    string `json:"method"`
	Status    string `json:"status"`

	RequestLength  float64 `json:"requestLength"`
	RequestTime    float64 `json:"requestTime"`
	ResponseLength float64 `json:"responseLength"`

	ConnectTime  float64 `json:"upstreamLatency"`
	HeaderTime   float64 `json:"upstreamHeaderTime"`
	ResponseTime float64 `json:"upstreamResponseTime"`
}

// requests counts requests and observes their times and sizes.
type requests struct {
	options    Requests
	count      *prometheus.CounterVec // nil where it is excluded
	histograms []histogram

	mu      sync.RWMutex
	serving Serving
}

// histogram is a metric and what it takes of a record.
type histogram struct {
	*prometheus.HistogramVec
	of func(*Record) float64
}

func newRequests(mint maker, o Requests) *requests {
	r := &requests{options: o}
	labels := []string{"status", "method", "path", "namespace", "ingress", "service", "canary"}
	if o.PerHost {
		labels = append(labels, "host")
	}
	if !o.excludes("requests") {
		r.count = mint.counters("requests", "Requests of clients.", labels...)
	}
	add := func(name, help string, buckets []float64, of func(*Record) float64) {
		if o.excludes(name) {
			return
		}
		r.histograms = append(r.histograms, histogram{prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: name, Help: help, ConstLabels: mint.labels(),
			Buckets: buckets, NativeHistogramBucketFactor: o.BucketFactor, NativeHistogramMaxBucketNumber: o.MaxBuckets,
		}, labels), of})
	}
	add("request_duration_seconds", "Seconds from the first byte of a request to the last of its answer.", o.TimeBuckets, func(r *Record) float64 { return r.RequestTime })
	add("connect_duration_seconds", "Seconds to connect to a pod.", o.TimeBuckets, func(r *Record) float64 { return r.ConnectTime })
	add("header_duration_seconds", "Seconds to the header of a pod's answer.", o.TimeBuckets, func(r *Record) float64 { return r.HeaderTime })
	add("response_duration_seconds", "Seconds to the end of a pod's answer.", o.TimeBuckets, func(r *Record) float64 { return r.ResponseTime })
	add("request_size", "Bytes of a request.", o.LengthBuckets, func(r *Record) float64 { return r.RequestLength })
	add("response_size", "Bytes of an answer.", o.LengthBuckets, func(r *Record) float64 { return r.ResponseLength })
	add("bytes_sent", "Bytes of an answer; deprecated, use response_size.", o.SizeBuckets, func(r *Record) float64 { return r.ResponseLength })
	return r
}

func (r *requests) all() []prometheus.Collector {
	var all []prometheus.Collector
	if r.count != nil {
		all = append(all, r.count)
	}
	for _, h := range r.histograms {
		all = append(all, h)
	}
	return all
}

// excludes: --exclude-socket-metrics takes names with the prefix and without.
func (o Requests) excludes(name string) bool {
	return slices.ContainsFunc(o.Exclude, func(excluded string) bool {
		return strings.TrimPrefix(strings.TrimSpace(excluded), namespace+"_") == name
	})
}

// Requests counts what nginx tells of requests.
func (m *Metrics) Requests(records []Record) {
	for i := range records {
		m.requests.add(&records[i])
	}
}

func (r *requests) add(record *Record) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.counts(record) {
		return
	}
	labels := []string{r.status(record.Status), record.Method, record.Path, record.Namespace, record.Ingress, record.Service, record.Canary}
	if r.options.PerHost {
		labels = append(labels, record.Host)
	}
	if r.count != nil {
		r.count.WithLabelValues(labels...).Inc()
	}
	for _, h := range r.histograms {
		if value := h.of(record); value >= 0 {
			h.WithLabelValues(labels...).Observe(value)
		}
	}
}

// counts keeps clients from making series as they like, by host names of their
// own, and those of an ingress that is gone from coming back with its last
// requests.
func (r *requests) counts(record *Record) bool {
	if r.options.PerHost && !r.options.PerUndefinedHost && !r.serving.Hosts[record.Host] {
		return false
	}
	ofNone := record.Ingress == "" || record.Ingress == "-"
	return ofNone || r.serving.Ingresses[types.NamespacedName{Namespace: record.Namespace, Name: record.Ingress}]
}

func (r *requests) status(code string) string {
	if r.options.StatusClasses && len(code) == 3 && code[0] < utf8.RuneSelf {
		return code[:1] + "xx"
	}
	return code
}

// Serving is what nginx serves, or is about to.
type Serving struct {
	Hosts     map[string]bool
	Ingresses map[types.NamespacedName]bool
}

// WillServe says what nginx will serve besides what it serves now.
func (m *Metrics) WillServe(more Serving) {
	r := m.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	now := Serving{maps.Clone(more.Hosts), maps.Clone(more.Ingresses)}
	maps.Copy(now.Hosts, r.serving.Hosts)
	maps.Copy(now.Ingresses, r.serving.Ingresses)
	r.serving = now
}

// Serves says what nginx serves now, and nothing else. The series of ingresses
// that are gone are removed.
func (m *Metrics) Serves(now Serving) {
	r := m.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.serving.Ingresses {
		if !now.Ingresses[name] {
			r.remove(name)
			m.admissions.remove(name)
		}
	}
	r.serving = now
}

func (r *requests) remove(name types.NamespacedName) {
	if r.count != nil {
		r.count.DeletePartialMatch(ofIngress(name))
	}
	for _, h := range r.histograms {
		h.DeletePartialMatch(ofIngress(name))
	}
}

func (a *admissions) remove(name types.NamespacedName) {
	a.successes.DeletePartialMatch(ofIngress(name))
	a.failures.DeletePartialMatch(ofIngress(name))
}

func ofIngress(name types.NamespacedName) prometheus.Labels {
	return prometheus.Labels{"namespace": name.Namespace, "ingress": name.Name}
}
