package scenario

import (
	"fmt"
	"math"
	"time"

	"windtunnel.dev/internal/plural"
)

// Upper bounds of a scenario. The population and the changes are generated before a run begins and
// kept in memory, and so are all requests when the run is measured. Without these bounds a typing
// error could exhaust the machine before any message is printed.
const (
	// MostPods limits the pods of a population, and thus its services, to what Kubernetes supports
	// in a cluster (kubernetes.io, Considerations for large clusters).
	MostPods = 150_000
	// MostIngresses limits the ingresses of a population.
	MostIngresses = 150_000
	// MostPaths limits the number of further paths of an ingress to more than the API server
	// accepts.
	MostPaths = 100_000
	// MostAllPaths limits the further paths of a population, and of the new hosts of a churn.
	MostAllPaths = 1_000_000
	// MostChanges limits the changes of a churn, at about 1 KB each.
	MostChanges = 1_000_000
	// MostZipf limits the exponent of Zipf's law. With this exponent, the second most popular host gets
	// one in a thousand requests.
	MostZipf = 10.0
	// MostRate limits the rate of a lane or a churn.
	MostRate = Rate(1_000_000)
	// LeastRate keeps the time between two requests below 31 days.
	LeastRate = Rate(1.0 / (31 * 24 * 3600))
	// LongestTime limits every duration, so that sums of them do not overflow.
	LongestTime = 31 * 24 * time.Hour

	mostRequests = 100_000_000 // per lane, over the timeline
	mostRounds   = 10_000
	mostBytes    = 1 << 30 // per body, which a lane may keep in memory
	mostSubjects = 20      // each has an API server, a controller and an nginx
	mostStreams  = 100     // of traffic
	mostSteps    = 10_000  // of the timeline
	mostExpected = 1_000   // expectations
)

// bounds rejects values above the bounds. Its messages show the arithmetic.
func (c *checker) bounds() {
	c.atMost(c.Rounds, mostRounds, "rounds", "spec", "rounds")
	for _, list := range []struct {
		key  string
		n    int
		most int
	}{
		{"subjects", len(c.Subjects), mostSubjects}, {"traffic", len(c.Traffic), mostStreams},
		{"timeline", len(c.Timeline), mostSteps}, {"expect", len(c.Expect), mostExpected},
	} {
		if list.n > list.most {
			c.Problem(fmt.Sprintf("%s: a list of %d", list.key, list.n), fmt.Sprintf("make it %d at most", list.most), "spec", list.key)
		}
	}
	c.times()
	for i, t := range c.Traffic {
		if what, mend := t.tooMany(c.Length()); what != "" {
			c.Problem(what, mend, "spec", "traffic", i)
		}
		if t.Bytes > mostBytes {
			c.Problem(fmt.Sprintf("a body of %d bytes", t.Bytes), fmt.Sprintf("make it %d (1 GiB) at most", mostBytes), "spec", "traffic", i, "bytes")
		}
	}
}

// tooMany checks the number of requests over a timeline of this length. It returns what is wrong and how
// to mend it; "" if nothing is wrong.
func (t Traffic) tooMany(length time.Duration) (what, mend string) {
	highest := max(t.Rate, t.peak())
	if requests := float64(highest) * length.Seconds(); requests > mostRequests {
		return fmt.Sprintf("%.3g requests of lane %s: %v for %v", requests, t.Lane, highest, length),
			fmt.Sprintf("make them %d at most, by a lower rate or a shorter timeline", mostRequests)
	}
	return "", ""
}

// peak returns an upper limit of the rate, with its ramp and sine.
func (t Traffic) peak() Rate {
	rate := t.Rate
	if t.Ramp != nil {
		rate = max(rate, t.Ramp.To)
	}
	if t.Sine != nil {
		rate += t.Sine.By
	}
	return rate
}

// times rejects durations above LongestTime.
func (c *checker) times() {
	limit := func(d time.Duration, path ...any) {
		if d > LongestTime {
			c.Problem(fmt.Sprintf("%v: %v", path[len(path)-1], d), fmt.Sprintf("make it %v (31 days) at most", LongestTime), path...)
		}
	}
	limit(c.Settle, "spec", "settle")
	limit(c.Granularity, "spec", "granularity")
	for i, t := range c.Traffic {
		limit(t.Last, "spec", "traffic", i, "last")
		if t.Ramp != nil {
			limit(t.Ramp.Over, "spec", "traffic", i, "ramp", "over")
		}
		if t.Sine != nil {
			limit(t.Sine.Every, "spec", "traffic", i, "sine", "every")
		}
	}
	steps := func(all []Step, path ...any) {
		for i, step := range all {
			at := append(path[:len(path):len(path)], i)
			limit(step.At, append(at, "at")...)
			limit(step.For, append(at, "for")...)
			if step.Drain != nil {
				limit(*step.Drain, append(at, "drain")...)
			}
		}
	}
	steps(c.Timeline, "spec", "timeline")
	if c.Control != nil {
		steps(c.Control.Timeline, "spec", "control", "timeline")
	}
}

func (c *checker) atMost(n, most int, what string, path ...any) {
	if n > most {
		c.Problem(fmt.Sprintf("%d %s", n, what), fmt.Sprintf("make it %d at most", most), path...)
	}
}

// TooMany returns why a population of these counts is too large, or "" if it is not. Its arithmetic
// does not overflow.
func TooMany(services, pods, ingresses int) string {
	switch total := float64(services) * float64(pods); {
	case total > MostPods:
		return fmt.Sprintf("%s of %s are %.10g pods, and Kubernetes supports %d in a cluster", plural.Of(services, "service"), plural.Of(pods, "pod"), total, MostPods)
	case ingresses > MostIngresses:
		return fmt.Sprintf("%d ingresses are more than %d", ingresses, MostIngresses)
	}
	return ""
}

// TooManyChanges returns why a churn has too many changes, or "" if it has not. The limit bounds
// the memory of a run.
func TooManyChanges(rate Rate, length time.Duration) string {
	if changes := float64(rate) * length.Seconds(); changes > MostChanges || math.IsNaN(changes) {
		return fmt.Sprintf("a churn of %.10g changes: %v for %v", changes, rate, length)
	}
	return ""
}
