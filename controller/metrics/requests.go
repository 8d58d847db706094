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

// Requests configures the metrics of requests. The fields are flags of ingress-nginx.
type Requests struct {
	PerHost          bool // --metrics-per-host: a label for the host
	PerUndefinedHost bool // --metrics-per-undefined-host: count requests for hosts without an ingress, too
	StatusClasses    bool // --report-status-classes: 4xx instead of 404
	Exclude          []string

	TimeBuckets, LengthBuckets, SizeBuckets []float64
	BucketFactor                            float64 // more than 1 adds native histograms
	MaxBuckets                              uint32
}

// DefaultRequests are the defaults of ingress-nginx.
var DefaultRequests = Requests{
	PerHost:       true,
	TimeBuckets:   prometheus.DefBuckets,
	LengthBuckets: prometheus.LinearBuckets(10, 10, 10),
	SizeBuckets:   prometheus.ExponentialBuckets(10, 10, 7),
	MaxBuckets:    100,
}

// Record is the report of nginx's Lua about one request. A number is -1 if nginx has no value, for
// example the times of the pod if the request reached no pod.
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
	count      *prometheus.CounterVec // nil if it is excluded
	histograms []histogram

	mu     sync.RWMutex
	served Served
}

// histogram is a metric, and the field of a record that it observes.
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
	add("request_duration_seconds", "Seconds from the first byte of a request to the last byte of the response.", o.TimeBuckets, func(r *Record) float64 { return r.RequestTime })
	add("connect_duration_seconds", "Seconds to connect to a pod.", o.TimeBuckets, func(r *Record) float64 { return r.ConnectTime })
	add("header_duration_seconds", "Seconds until the header of a pod's response.", o.TimeBuckets, func(r *Record) float64 { return r.HeaderTime })
	add("response_duration_seconds", "Seconds until the end of a pod's response.", o.TimeBuckets, func(r *Record) float64 { return r.ResponseTime })
	add("request_size", "Size of a request in bytes.", o.LengthBuckets, func(r *Record) float64 { return r.RequestLength })
	add("response_size", "Size of a response in bytes.", o.LengthBuckets, func(r *Record) float64 { return r.ResponseLength })
	add("bytes_sent", "Size of a response in bytes; deprecated, use response_size.", o.SizeBuckets, func(r *Record) float64 { return r.ResponseLength })
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

// excludes reports whether a metric is excluded. --exclude-socket-metrics accepts names with and
// without the prefix.
func (o Requests) excludes(name string) bool {
	return slices.ContainsFunc(o.Exclude, func(excluded string) bool {
		return strings.TrimPrefix(strings.TrimSpace(excluded), namespace+"_") == name
	})
}

// Unknown returns the names in Exclude that match no metric.
func (o Requests) Unknown() []string {
	all := len(newRequests(nil, Requests{}).all())
	return slices.DeleteFunc(slices.Clone(o.Exclude), func(name string) bool {
		return len(newRequests(nil, Requests{Exclude: []string{name}}).all()) < all
	})
}

// Requests counts the requests that nginx reports.
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

// counts reports whether a record is counted. Unknown hosts are not, so that clients cannot create
// series by sending arbitrary host names. Deleted ingresses are not, so that late records do not
// bring back their series.
func (r *requests) counts(record *Record) bool {
	if r.options.PerHost && !r.options.PerUndefinedHost && !r.served.Hosts[record.Host] {
		return false
	}
	ofNone := record.Ingress == "" || record.Ingress == "-"
	return ofNone || r.served.Ingresses[types.NamespacedName{Namespace: record.Namespace, Name: record.Ingress}]
}

func (r *requests) status(code string) string {
	if r.options.StatusClasses && len(code) == 3 && code[0] < utf8.RuneSelf {
		return code[:1] + "xx"
	}
	return code
}

// Served lists the hosts and ingresses that nginx serves, or is about to serve.
type Served struct {
	Hosts     map[string]bool
	Ingresses map[types.NamespacedName]bool
}

// WillServe adds the hosts and ingresses that nginx is about to serve to those that it serves now.
func (m *Metrics) WillServe(more Served) {
	r := m.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	now := Served{maps.Clone(more.Hosts), maps.Clone(more.Ingresses)}
	maps.Copy(now.Hosts, r.served.Hosts)
	maps.Copy(now.Ingresses, r.served.Ingresses)
	r.served = now
}

// Serves replaces the hosts and ingresses that nginx serves. It removes the series of ingresses
// that are gone.
func (m *Metrics) Serves(now Served) {
	r := m.requests
	r.mu.Lock()
	defer r.mu.Unlock()
	for name := range r.served.Ingresses {
		if !now.Ingresses[name] {
			r.remove(name)
		}
	}
	m.admissions.serves(now.Ingresses)
	r.served = now
}

func (r *requests) remove(name types.NamespacedName) {
	if r.count != nil {
		r.count.DeletePartialMatch(ofIngress(name))
	}
	for _, h := range r.histograms {
		h.DeletePartialMatch(ofIngress(name))
	}
}

func ofIngress(name types.NamespacedName) prometheus.Labels {
	return prometheus.Labels{"namespace": name.Namespace, "ingress": name.Name}
}
