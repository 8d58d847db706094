package compare_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// machine generates runs in which every figure varies by chance: times and sizes around a mean with
// outliers, counts of random events with a Poisson distribution.
type machine struct {
	random *rand.Rand
	spread float64 // relative, of times
	events float64 // mean number of random events in a run
}

func (m machine) time(mean time.Duration) time.Duration {
	noise := m.random.NormFloat64()
	if m.random.IntN(20) == 0 {
		noise *= 5 // a slow moment
	}
	return time.Duration(float64(mean) * math.Exp(m.spread*noise))
}

// poisson returns a random number with a Poisson distribution, by Knuth's algorithm for small means.
func (m machine) poisson() int {
	n, p := 0, m.random.Float64()
	for limit := math.Exp(-m.events); p > limit; n++ {
		p *= m.random.Float64()
	}
	return n
}

func (m machine) durations(mean time.Duration) measure.Durations {
	return measure.Durations{N: 500, P50: m.time(mean), P99: m.time(3 * mean), Max: m.time(5 * mean)}
}

// runs returns n runs, each changed by difference unless it is nil.
func (m machine) runs(n int, difference func(*measure.Subject)) []measure.Result {
	var all []measure.Result
	for range n {
		s := measure.Subject{Name: "dynamic", Valid: true, Outage: m.time(40 * time.Millisecond)}
		s.Syncs = measure.Syncs{Count: 50, Failed: m.poisson()}
		s.Start = measure.Start{Count: 1, Served: m.time(2 * time.Second)}
		s.Converge = measure.Converge{First: m.durations(time.Second), Last: m.durations(time.Second), Between: m.durations(time.Second), Flaps: m.poisson()}
		s.Requests = measure.Requests{
			Sent: 10000, Failed: m.poisson(), Retries: m.poisson(), Sockets: m.poisson(),
			Latency: m.durations(2 * time.Millisecond), Stale: m.durations(time.Second),
		}
		s.Requests.Stale.N = 100 + m.poisson()
		s.Certificates = measure.Certificates{Changed: 3, Last: m.durations(time.Second)}
		s.Balance = measure.Balance{Services: 5, Hottest: 1.5 * float64(m.time(time.Second)) / 1e9}
		s.CPU = measure.CPU{Nginx: m.time(4 * time.Second), Controller: m.time(500 * time.Millisecond)}
		s.Memory = measure.Memory{PeakRSS: int64(m.time(80 << 20)), PeakPSS: int64(m.time(40 << 20))}
		if difference != nil {
			difference(&s)
		}
		all = append(all, measure.Result{Schema: measure.Schema, Run: event.Run{Scenario: "churn", Seed: 1}, Subjects: []measure.Subject{s}})
	}
	return all
}

// If base and head are the same, at most 5 % of the comparisons report a worse figure, for all figures
// together, and at most 5 % are void.
func TestFalseAlarms(t *testing.T) {
	const trials, runs = 120, 14
	for _, m := range []machine{
		{spread: 0.05, events: 0.5}, {spread: 0.05, events: 3}, {spread: 0.3, events: 8},
	} {
		m.random = rand.New(rand.NewPCG(1, uint64(1000*m.events)))
		worse, void, counts := 0, 0, 0
		for range trials {
			c := compareSubjects(t, m.runs(runs, nil), m.runs(runs, nil), compare.Options{})
			if !c.Controlled {
				t.Fatalf("got %d runs, but %d are needed", runs, c.Needed)
			}
			if len(c.Worse()) > 0 {
				worse++
			}
			for _, r := range c.Worse() {
				if !r.Kind.Varies() {
					counts++
				}
			}
			if c.Void() {
				void++
			}
		}
		// 5 % of 120 are 6, and three standard deviations more are 13.
		if worse > 13 || void > 13 {
			t.Errorf("spread %v, %v events: %d comparisons of equal sides: %d worse (%d by a count), %d void", m.spread, m.events, trials, worse, counts, void)
		}
		t.Logf("spread %v, %v events: %d comparisons of equal sides: %d worse (%d by a count), %d void", m.spread, m.events, trials, worse, counts, void)
	}
}

// Nearly all comparisons of ten runs per side detect a worse figure.
func TestPower(t *testing.T) {
	const trials, runs = 40, 10
	for _, test := range []struct {
		what, figure string
		difference   func(*measure.Subject)
	}{
		{"p50 of 2 ms, and 42 %", "requests.latency.p50", func(s *measure.Subject) {
			s.Requests.Latency.P50 = s.Requests.Latency.P50 * 142 / 100
		}},
		{"twice the CPU", "cpu.nginx", func(s *measure.Subject) { s.CPU.Nginx *= 2 }},
		{"half as much memory again", "memory.peakRSS", func(s *measure.Subject) { s.Memory.PeakRSS = s.Memory.PeakRSS * 3 / 2 }},
		{"half as many stale answers again", "requests.stale.n", func(s *measure.Subject) { s.Requests.Stale.N = s.Requests.Stale.N * 3 / 2 }},
		{"a socket a request", "requests.sockets", func(s *measure.Subject) { s.Requests.Sockets += 200 }},
		{"thirty retries", "requests.retries", func(s *measure.Subject) { s.Requests.Retries += 30 }},
	} {
		m := machine{random: rand.New(rand.NewPCG(2, 2)), spread: 0.05, events: 3}
		found := 0
		for range trials {
			if row(t, compareSubjects(t, m.runs(runs, nil), m.runs(runs, test.difference), compare.Options{}), test.figure).Verdict == compare.Worse {
				found++
			}
		}
		if found < trials*95/100 {
			t.Errorf("%s: found in %d of %d comparisons", test.what, found, trials)
		}
	}
}
