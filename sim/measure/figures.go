package measure

import "time"

// Kind says how a figure varies from run to run, and so how two are compared.
type Kind string

// The kinds of figures.
const (
	Count  Kind = "count"  // nearly deterministic: a different value means different behaviour
	Time   Kind = "time"   // varies: only a difference of distributions says something
	Bytes  Kind = "bytes"  // of memory: varies like a time
	Number Kind = "number" // without a unit: varies like a time
)

// Varies reports whether a figure of this kind needs a statistical test.
func (k Kind) Varies() bool { return k != Count }

// Figure is one number of a subject, as comparisons and benchmark tools take
// it. Of all of them less is better.
type Figure struct {
	Name string // in the words of expectations
	Unit string // of Go's benchmark format
	Kind Kind
	Doc  string
	// Of returns the value; false if the subject has none, as the convergence
	// of no change.
	Of func(Subject) (float64, bool)
}

// Figures are the numbers by which runs are compared, in order. Trends are not
// among them: each run has its own interval for them, which expectations check.
func Figures() []Figure {
	return []Figure{
		counted("reloads", "reloads", "Reloads, seen from outside.", func(s Subject) int { return s.Reloads }),
		{"posts.count", "posts", Count, "Dynamic updates sent to nginx.", func(s Subject) (float64, bool) { return float64(s.Posts.Count), s.Posts.Visible }},
		{"posts.bytes", "post-bytes", Count, "Their size.", func(s Subject) (float64, bool) { return float64(s.Posts.Bytes), s.Posts.Visible }},
		{"syncs.failed", "failed-syncs", Count, "Passes of the controller that failed.", func(s Subject) (float64, bool) { return float64(s.Syncs.Failed), s.Syncs.Count > 0 }},
		{"start.unserved", "unserved", Count, "URLs that no pod answered when the controller became healthy.", func(s Subject) (float64, bool) { return float64(s.Start.Unserved), s.Start.Count > 0 }},
		counted("changes.unconverged", "unconverged", "Changes that not every worker came to serve.", func(s Subject) int { return s.Changes.Unconverged }),
		counted("converge.flaps", "flaps", "Old answers of a worker after a new one.", func(s Subject) int { return s.Converge.Flaps }),
		counted("requests.failed", "failed", "Requests that failed.", func(s Subject) int { return s.Requests.Failed }),
		counted("requests.unexplained", "unexplained", "Requests that failed without a known cause.", func(s Subject) int { return s.Requests.Unexplained }),
		counted("requests.retries", "retries", "Requests sent again by the HTTP client.", func(s Subject) int { return s.Requests.Retries }),
		counted("requests.sockets", "sockets", "Connections that clients opened.", func(s Subject) int { return s.Requests.Sockets }),
		{"certificates.unseen", "unseen-certificates", Count, "New certificates that no client was shown.", func(s Subject) (float64, bool) { return float64(s.Certificates.Unseen), s.Certificates.Changed > 0 }},
		counted("workers.alive", "generations", "Most generations of workers alive at once.", func(s Subject) int { return s.Workers.Alive }),
		counted("workers.crashed", "crashed", "Workers that ended by a signal or with a code other than 0.", func(s Subject) int { return s.Workers.Crashed }),
		timed("start.served", "start-sec", "Longest time from a start of the controller until all URLs are served.", func(s Subject) (time.Duration, int) { return s.Start.Served, s.Start.Count }),
		timed("converge.first.p50", "first-p50-sec", "From intent to the first worker, median.", func(s Subject) (time.Duration, int) { return s.Converge.First.P50, s.Converge.First.N }),
		timed("converge.last.p50", "last-p50-sec", "From intent to all workers, median.", func(s Subject) (time.Duration, int) { return s.Converge.Last.P50, s.Converge.Last.N }),
		timed("converge.last.p99", "last-p99-sec", "The same, 99th percentile.", func(s Subject) (time.Duration, int) { return s.Converge.Last.P99, s.Converge.Last.N }),
		timed("converge.between.p99", "between-p99-sec", "How long workers gave answers that match neither the old state nor the new one, 99th percentile.", func(s Subject) (time.Duration, int) { return s.Converge.Between.P99, s.Converge.Between.N }),
		timed("requests.latency.p50", "latency-p50-sec", "Latency from the intended send time, median.", func(s Subject) (time.Duration, int) { return s.Requests.Latency.P50, s.Requests.Latency.N }),
		timed("requests.latency.p99", "latency-p99-sec", "The same, 99th percentile.", func(s Subject) (time.Duration, int) { return s.Requests.Latency.P99, s.Requests.Latency.N }),
		{"requests.stale.n", "stale", Number, "Answers of pods that a change had removed from their service.", func(s Subject) (float64, bool) { return float64(s.Requests.Stale.N), s.Requests.Sent > 0 }},
		timed("requests.stale.max", "stale-max-sec", "Time from the change to the latest request with such an answer.", func(s Subject) (time.Duration, int) { return s.Requests.Stale.Max, s.Requests.Sent }),
		timed("outage", "outage-sec", "The longest stretch in which no request succeeded.", func(s Subject) (time.Duration, int) { return s.Outage, s.Requests.Sent }),
		timed("certificates.last.p50", "certificate-p50-sec", "From intent until no client is shown the old certificate, median.", func(s Subject) (time.Duration, int) { return s.Certificates.Last.P50, s.Certificates.Last.N }),
		{"balance.hottest", "hottest", Number, "Requests of the busiest pod, relative to its fair share.", func(s Subject) (float64, bool) { return s.Balance.Hottest, s.Balance.Services > 0 }},
		timed("cpu.controller", "controller-cpu-sec", "CPU of the controller.", func(s Subject) (time.Duration, int) { return s.CPU.Controller, 1 }),
		timed("cpu.nginx", "nginx-cpu-sec", "CPU of nginx.", func(s Subject) (time.Duration, int) { return s.CPU.Nginx, 1 }),
		{"memory.peakRSS", "rss-bytes", Bytes, "Peak resident memory of all nginx processes.", func(s Subject) (float64, bool) { return float64(s.Memory.PeakRSS), s.Memory.PeakRSS > 0 }},
		{"memory.peakPSS", "pss-bytes", Bytes, "The same with shared pages divided among the processes.", func(s Subject) (float64, bool) { return float64(s.Memory.PeakPSS), s.Memory.PeakPSS > 0 }},
	}
}

func counted(name, unit, doc string, of func(Subject) int) Figure {
	return Figure{name, unit, Count, doc, func(s Subject) (float64, bool) { return float64(of(s)), true }}
}

// timed is in seconds; of says of how many values, none being no figure.
func timed(name, unit, doc string, of func(Subject) (time.Duration, int)) Figure {
	return Figure{name, unit, Time, doc, func(s Subject) (float64, bool) {
		d, n := of(s)
		return d.Seconds(), n > 0
	}}
}
