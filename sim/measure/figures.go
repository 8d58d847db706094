package measure

import (
	"slices"
	"time"
)

// Kind is how a figure varies from run to run, which decides how two values are compared.
type Kind string

// The kinds of figures.
const (
	Count  Kind = "count"  // nearly deterministic: a different value means different behaviour
	Time   Kind = "time"   // varies: only a difference between distributions is significant
	Bytes  Kind = "bytes"  // of memory: varies like a time
	Number Kind = "number" // without a unit: varies like a time
)

// Varies reports whether a figure of this kind needs a statistical test.
func (k Kind) Varies() bool { return k != Count }

// Figure is a number of a subject that is shown and compared. Lower is better for all figures.
// Everything that shows, compares or checks figures uses this list: reports, benchmark lines,
// comparisons, expectations, and windtunnel list figures.
type Figure struct {
	Name   string // name in expectations
	Unit   string // unit in Go's benchmark format
	Kind   Kind
	Doc    string // one sentence
	Budget Budget // default budget: how much it may rise
	// Of returns the value, in seconds, bytes or a plain number; false if there is nothing
	// to compare, for example because no change converged, or if the figure does not apply to
	// the subject.
	Of func(Subject) (float64, bool)
	// Label is the label of the figure's own row in the summary of a run. If it is empty, the
	// figure has no row, or a row with several figures (sim/report).
	Label string
	// Unseen reports whether there is no data for the figure: nothing happened that could be
	// counted, or nothing was counted. Then its zero does not meet an expectation. Nil: there is
	// always data. (Quantiles and trends without data are recognised by their N.)
	Unseen func(Subject) bool
	// With are other fields that have no data if the figure has none.
	With []string
}

// Figures returns all figures, in order. Trends are not included: each run has its own confidence
// interval for them, which expectations check.
func Figures() []Figure {
	all := slices.Clone(figures)
	for i, f := range all {
		all[i].Of = func(s Subject) (float64, bool) {
			if s.WhyNot(f.Name) != "" {
				return 0, false
			}
			return f.Of(s)
		}
	}
	return all
}

var figures = []Figure{
	{
		Name: "reloads", Unit: "reloads", Kind: Count, Budget: oneMore, Label: "reloads",
		Doc: "New generations of workers, seen from outside.",
		Of:  count(func(s Subject) int { return s.Reloads }),
	},
	{
		Name: "posts.count", Unit: "posts", Kind: Count, Budget: oneMore,
		Doc:    "Dynamic updates sent to the proxy.",
		Of:     countIf(postsVisible, func(s Subject) int { return s.Posts.Count }),
		Unseen: not(postsVisible),
	},
	{
		Name: "posts.bytes", Unit: "post-bytes", Kind: Count, Budget: Budget{Rel: 0.10},
		Doc:    "Their size.",
		Of:     countIf(postsVisible, func(s Subject) int { return int(s.Posts.Bytes) }),
		Unseen: not(postsVisible),
	},
	{
		Name: "syncs.failed", Unit: "failed-syncs", Kind: Count, Budget: bursts,
		Doc:    "Syncs of the controller that failed.",
		Of:     countIf(func(s Subject) bool { return s.Syncs.Count > 0 && s.Posts.Visible }, func(s Subject) int { return s.Syncs.Failed }),
		Unseen: not(postsVisible), With: []string{"syncs.count"},
	},
	{
		Name: "start.unserved", Unit: "unserved", Kind: Count,
		Doc:    "URLs that no pod answered when the controller became healthy.",
		Of:     countIf(func(s Subject) bool { return s.Start.Count > 0 }, func(s Subject) int { return s.Start.Unserved }),
		Unseen: func(s Subject) bool { return s.Start.Asked == 0 },
	},
	{
		Name: "changes.unconverged", Unit: "unconverged", Kind: Count,
		Doc:    "Changes that not every worker served in time.",
		Of:     count(func(s Subject) int { return s.Changes.Unconverged }),
		Unseen: func(s Subject) bool { return s.Changes.Converged+s.Changes.Unconverged == 0 },
	},
	{
		Name: "converge.flaps", Unit: "flaps", Kind: Count, Budget: bursts,
		Doc:    "Old answers of a worker after a new one.",
		Of:     count(func(s Subject) int { return s.Converge.Flaps }),
		Unseen: func(s Subject) bool { return s.Converge.First.N+s.Converge.Last.N+s.Converge.Granularity.N == 0 },
	},
	{
		Name: "requests.failed", Unit: "failed", Kind: Count, Budget: bursts,
		Doc: "Requests that failed.",
		Of:  count(func(s Subject) int { return s.Requests.Failed }),
	},
	{
		Name: "requests.unexplained", Unit: "unexplained", Kind: Count,
		Doc: "Requests that failed without a known cause.",
		Of:  count(func(s Subject) int { return s.Requests.Unexplained }),
	},
	{
		Name: "requests.retries", Unit: "retries", Kind: Count, Budget: Budget{More: 10, Rel: 0.50, Chance: 2}, Label: "hidden retries",
		Doc: "Requests that the HTTP client sent again without telling its caller.",
		Of:  count(func(s Subject) int { return s.Requests.Retries }),
	},
	{
		Name: "requests.sockets", Unit: "sockets", Kind: Count, Budget: Budget{More: 20, Rel: 0.50, Chance: 2}, Label: "sockets opened",
		Doc: "Connections that the lanes opened: many, if nginx closes them.",
		Of:  count(func(s Subject) int { return s.Requests.Sockets }),
	},
	{
		Name: "certificates.unseen", Unit: "unseen-certificates", Kind: Count,
		Doc:    "New certificates that no client received.",
		Of:     countIf(certificatesChanged, func(s Subject) int { return s.Certificates.Unseen }),
		Unseen: not(certificatesChanged),
	},
	{
		Name: "workers.alive", Unit: "generations", Kind: Count, Budget: Budget{More: 1}, Label: "worker generations alive at once",
		Doc: "Maximum number of generations of workers alive at once; each has its own memory.",
		Of:  count(func(s Subject) int { return s.Workers.Alive }),
	},
	{
		Name: "workers.crashed", Unit: "crashed", Kind: Count,
		Doc:    "Workers that ended by a signal or with a code other than 0.",
		Of:     count(func(s Subject) int { return s.Workers.Crashed }),
		Unseen: func(s Subject) bool { return s.Workers.Exited > 0 && s.Workers.Untold == s.Workers.Exited },
	},
	{
		Name: "start.served", Unit: "start-sec", Kind: Time, Budget: within(50 * millisecond),
		Doc: "Longest time from a start of the controller until all URLs are served.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Start.Served, s.Start.Count }),
	},
	{
		Name: "converge.first.p50", Unit: "first-p50-sec", Kind: Time, Budget: within(5 * millisecond),
		Doc: "From intent to the first worker, median.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Converge.First.P50, s.Converge.First.N }),
	},
	{
		Name: "converge.last.p50", Unit: "last-p50-sec", Kind: Time, Budget: within(5 * millisecond),
		Doc: "From intent to all workers, median.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Converge.Last.P50, s.Converge.Last.N }),
	},
	{
		Name: "converge.last.p99", Unit: "last-p99-sec", Kind: Time, Budget: within(5 * millisecond),
		Doc: "The same, 99th percentile.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Converge.Last.P99, s.Converge.Last.N }),
	},
	{
		Name: "converge.between.p99", Unit: "between-p99-sec", Kind: Time, Budget: within(5 * millisecond),
		Doc: "How long workers gave answers that match neither the old state nor the new one, 99th percentile.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Converge.Between.P99, s.Converge.Between.N }),
	},
	{
		Name: "requests.latency.p50", Unit: "latency-p50-sec", Kind: Time, Budget: within(0.1 * millisecond),
		Doc: "Latency from the intended send time, median.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Requests.Latency.P50, s.Requests.Latency.N }),
	},
	{
		Name: "requests.latency.p99", Unit: "latency-p99-sec", Kind: Time, Budget: within(0.5 * millisecond),
		Doc: "The same, 99th percentile.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Requests.Latency.P99, s.Requests.Latency.N }),
	},
	{
		Name: "requests.stale.n", Unit: "stale", Kind: Number, Budget: within(5),
		Doc: "Answers of pods that a change had removed from their service.",
		Of:  func(s Subject) (float64, bool) { return float64(s.Requests.Stale.N), s.Requests.Sent > 0 },
	},
	{
		Name: "requests.stale.max", Unit: "stale-max-sec", Kind: Time, Budget: within(20 * millisecond),
		Doc: "Time from the change to the latest request with such an answer.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Requests.Stale.Max, s.Requests.Sent }),
	},
	{
		Name: "outage", Unit: "outage-sec", Kind: Time, Budget: within(20 * millisecond),
		Doc: "The longest stretch in which no request succeeded.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Outage, s.Requests.Sent }),
	},
	{
		Name: "certificates.last.p50", Unit: "certificate-p50-sec", Kind: Time, Budget: within(20 * millisecond),
		Doc: "From intent until no client receives the old certificate, median.",
		Of:  seconds(func(s Subject) (time.Duration, int) { return s.Certificates.Last.P50, s.Certificates.Last.N }),
	},
	{
		Name: "balance.hottest", Unit: "hottest", Kind: Number, Budget: within(0.05),
		Doc:    "Requests of the busiest pod, relative to its fair share.",
		Of:     func(s Subject) (float64, bool) { return s.Balance.Hottest, s.Balance.Services > 0 },
		Unseen: func(s Subject) bool { return s.Balance.Services == 0 }, With: []string{"balance.idle"},
	},
	{
		Name: "cpu.controller", Unit: "controller-cpu-sec", Kind: Time, Budget: within(50 * millisecond), Label: "CPU, controller",
		Doc:    "CPU seconds that the controller used in the measured rounds.",
		Of:     seconds(func(s Subject) (time.Duration, int) { return s.CPU.Controller, 1 }),
		Unseen: noCPU,
	},
	{
		Name: "cpu.nginx", Unit: "nginx-cpu-sec", Kind: Time, Budget: within(50 * millisecond), Label: "CPU, proxy",
		Doc:    "CPU seconds that all processes of nginx, or of another proxy, used in the measured rounds, nginx -t included.",
		Of:     seconds(func(s Subject) (time.Duration, int) { return s.CPU.Nginx, 1 }),
		Unseen: noCPU,
	},
	{
		Name: "memory.peakRSS", Unit: "rss-bytes", Kind: Bytes, Budget: within(mebibyte),
		Doc:    "Peak resident memory of all processes of nginx, or of another proxy.",
		Of:     func(s Subject) (float64, bool) { return float64(s.Memory.PeakRSS), s.Memory.PeakRSS > 0 },
		Unseen: func(s Subject) bool { return s.Memory.PeakRSS == 0 }, With: []string{"memory.startRSS", "memory.endRSS", "memory.growth"},
	},
	{
		Name: "memory.peakPSS", Unit: "pss-bytes", Kind: Bytes, Budget: within(mebibyte),
		Doc:    "The same with shared pages divided among the processes.",
		Of:     func(s Subject) (float64, bool) { return float64(s.Memory.PeakPSS), s.Memory.PeakPSS > 0 },
		Unseen: func(s Subject) bool { return s.Memory.PeakPSS == 0 }, With: []string{"memory.startPSS", "memory.endPSS"},
	},
}

func postsVisible(s Subject) bool { return s.Posts.Visible }

func certificatesChanged(s Subject) bool { return s.Certificates.Changed > 0 }

func noCPU(s Subject) bool { return s.CPU.Nginx+s.CPU.Controller == 0 }

func not(seen func(Subject) bool) func(Subject) bool {
	return func(s Subject) bool { return !seen(s) }
}

// count returns the value function of a count that every subject has.
func count(of func(Subject) int) func(Subject) (float64, bool) {
	return func(s Subject) (float64, bool) { return float64(of(s)), true }
}

// countIf returns the value function of a count that only some subjects have.
func countIf(seen func(Subject) bool, of func(Subject) int) func(Subject) (float64, bool) {
	return func(s Subject) (float64, bool) { return float64(of(s)), seen(s) }
}

// seconds returns the value function of a time that is computed from n values. There is no value if
// n is 0.
func seconds(of func(Subject) (d time.Duration, n int)) func(Subject) (float64, bool) {
	return func(s Subject) (float64, bool) {
		d, n := of(s)
		return d.Seconds(), n > 0
	}
}

// Unseen returns the fields without data for a subject, as paths in the notation of expectations.
func Unseen(s Subject) (paths []string) {
	for _, f := range figures {
		if f.Unseen != nil && f.Unseen(s) {
			paths = append(append(paths, f.Name), f.With...)
		}
	}
	for path, n := range map[string]int{"lanes": len(s.Lanes), "struck": len(s.Struck), "workers.history": len(s.Workers.History), "workers.left": len(s.Workers.Left), "heap": int(s.Heap.Peak), "dictionaries": len(s.Dictionaries)} {
		if n == 0 {
			paths = append(paths, path)
		}
	}
	return paths
}
