package metrics

import (
	"hash/fnv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"windtunnel.dev/controller/conf"
)

// reloads are the metrics of starts and reloads.
type reloads struct {
	loaded    prometheus.Gauge
	loadedAt  prometheus.Gauge
	hash      prometheus.Gauge
	successes prometheus.Counter
	failures  prometheus.Counter
	phases    *prometheus.HistogramVec
}

func newReloads(mint maker) reloads {
	return reloads{
		loaded:    mint.gauge("config_last_reload_successful", "1 if nginx accepted the last configuration that needed a reload, else 0."),
		loadedAt:  mint.gauge("config_last_reload_successful_timestamp_seconds", "When nginx last loaded a configuration, in seconds since 1970."),
		hash:      mint.gauge("config_hash", "A hash of the running nginx.conf."),
		successes: mint.counter("success", "Reloads that succeeded."),
		failures:  mint.counter("errors", "Reloads that failed."),
		phases: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Namespace: namespace, Name: "reload_phase_duration_seconds", ConstLabels: mint.labels(),
			Help:    "How long the parts of a reload take: render, test, signal, first_worker and last_old_worker; the last two count from the signal.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10), // up to 262 s: a worker may drain for minutes
		}, []string{"phase"}),
	}
}

func (r *reloads) all() []prometheus.Collector {
	return []prometheus.Collector{r.loaded, r.loadedAt, r.hash, r.successes, r.failures, r.phases}
}

// Loaded counts a configuration that nginx loaded at its start or by a reload.
func (r *reloads) Loaded(text conf.Text, at time.Time) {
	hash := fnv.New32a()      // 32 bits, which a float64 holds exactly
	_, _ = text.WriteTo(hash) // never fails
	r.hash.Set(float64(hash.Sum32()))
	r.loaded.Set(1)
	r.loadedAt.Set(float64(at.UnixNano()) / 1e9)
	r.successes.Inc()
}

// Current records that nginx runs the wanted configuration. A configuration that it rejected before
// is no longer wanted.
func (r *reloads) Current() { r.loaded.Set(1) }

// Partial records that nginx runs the wanted configuration without the parts that it rejected.
func (r *reloads) Partial() { r.loaded.Set(0) }

// LoadFailed counts a configuration that nginx did not load.
func (r *reloads) LoadFailed() {
	r.loaded.Set(0)
	r.failures.Inc()
}

// The phases of a reload.
const (
	Render        = "render"
	Test          = "test"
	Signal        = "signal"
	FirstWorker   = "first_worker"
	LastOldWorker = "last_old_worker"
)

// Phase records the duration of a part of a reload. It ignores 0, which means that the reload did
// not reach that part.
func (r *reloads) Phase(phase string, took time.Duration) {
	if took > 0 {
		r.phases.WithLabelValues(phase).Observe(took.Seconds())
	}
}
