package compare_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// runs are n runs of one subject whose latency is drawn around a mean, and
// whose counts are as told.
func runs(seed uint64, n int, mean time.Duration, reloads int) []measure.Result {
	random := rand.New(rand.NewPCG(seed, 1))
	noisy := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * (1 + 0.03*random.NormFloat64()))
	}
	var all []measure.Result
	for range n {
		s := measure.Subject{Name: "dynamic", Valid: true, Reloads: reloads}
		s.Requests = measure.Requests{Sent: 1000, Latency: measure.Durations{N: 1000, P50: noisy(mean), P99: noisy(3 * mean)}}
		s.Converge.Last = measure.Durations{N: 100, P50: noisy(2 * time.Second), P99: noisy(4 * time.Second)}
		s.Memory.PeakRSS = 80 << 20
		all = append(all, measure.Result{Schema: measure.Schema, Run: event.Run{Scenario: "churn", Seed: 1}, Subjects: []measure.Subject{s}})
	}
	return all
}

func compared(t *testing.T, base, head []measure.Result, o compare.Options) compare.Comparison {
	t.Helper()
	c, err := compare.Runs(base, head, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func row(t *testing.T, c compare.Comparison, figure string) compare.Row {
	t.Helper()
	for _, r := range c.Rows {
		if r.Figure == figure {
			return r
		}
	}
	t.Fatalf("no row %s", figure)
	return compare.Row{}
}

func TestNothingChanged(t *testing.T) {
	c := compared(t, runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 50*time.Millisecond, 0), compare.Options{})
	for _, r := range c.Rows {
		if r.Verdict != compare.Same && r.Verdict != compare.Unsure {
			t.Errorf("%s is %s: %+v", r.Figure, r.Verdict, r)
		}
	}
	if c.Void() || !c.Controlled {
		t.Errorf("void %v, controlled %v", c.Void(), c.Controlled)
	}
}

func TestSlowerIsWorse(t *testing.T) {
	base, slower := runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 0)
	c := compared(t, base, slower, compare.Options{})
	if r := row(t, c, "requests.latency.p50"); r.Verdict != compare.Worse || r.Change < 0.4 || r.P >= 0.05 || r.Detectable == 0 {
		t.Errorf("%+v", r)
	}
	if r := row(t, c, "converge.last.p50"); r.Verdict != compare.Unsure {
		t.Errorf("what did not change: %+v", r)
	}
	if r := row(t, compared(t, slower, base, compare.Options{}), "requests.latency.p50"); r.Verdict != compare.Better {
		t.Errorf("the other way about: %+v", r)
	}
}

// What is significant can still be too small to matter: less than a tenth, or
// less than 5 ms.
func TestFloors(t *testing.T) {
	for what, means := range map[string][2]time.Duration{
		"under a tenth": {100 * time.Millisecond, 107 * time.Millisecond},
		"under 5 ms":    {2 * time.Millisecond, 4 * time.Millisecond},
	} {
		c := compared(t, runs(1, 20, means[0], 0), runs(2, 20, means[1], 0), compare.Options{})
		if r := row(t, c, "requests.latency.p50"); r.Verdict != compare.Unsure || r.P >= 0.05 {
			t.Errorf("%s: %+v", what, r)
		}
	}
}

func TestCountsHaveBudgets(t *testing.T) {
	for _, test := range []struct {
		base, head int
		budgets    map[string]compare.Budget
		want       compare.Verdict
	}{
		{0, 1, nil, compare.Same},
		{0, 2, nil, compare.Worse},
		{0, 1, map[string]compare.Budget{"reloads": {}}, compare.Worse},
		{30, 33, nil, compare.Same},
		{30, 34, nil, compare.Worse},
		{30, 20, nil, compare.Better},
	} {
		c := compared(t, runs(1, 1, time.Millisecond, test.base), runs(2, 1, time.Millisecond, test.head), compare.Options{Budgets: test.budgets})
		if r := row(t, c, "reloads"); r.Verdict != test.want {
			t.Errorf("%d to %d reloads with budgets %v: %s, want %s", test.base, test.head, test.budgets, r.Verdict, test.want)
		}
	}
}

// One bad run of many is enough for a count.
func TestWorstRunCounts(t *testing.T) {
	head := runs(2, 10, time.Millisecond, 0)
	head[7].Subjects[0].Requests.Unexplained = 1
	if r := row(t, compared(t, runs(1, 10, time.Millisecond, 0), head, compare.Options{}), "requests.unexplained"); r.Verdict != compare.Worse {
		t.Errorf("%+v", r)
	}
}

func TestTooFewRuns(t *testing.T) {
	c := compared(t, runs(1, 3, time.Millisecond, 0), runs(2, 3, time.Second, 0), compare.Options{})
	if r := row(t, c, "requests.latency.p50"); r.Verdict != compare.TooFew {
		t.Errorf("%+v", r)
	}
	if c.Controlled {
		t.Error("three runs cannot be compared with themselves")
	}
}

// A machine that changes while base runs makes the comparison void.
func TestControl(t *testing.T) {
	base := runs(1, 12, 50*time.Millisecond, 0)
	for i := range base {
		if i%2 == 1 {
			base[i].Subjects[0].Requests.Latency.P50 *= 2
		}
	}
	if c := compared(t, base, runs(2, 12, 50*time.Millisecond, 0), compare.Options{}); !c.Void() {
		t.Error("base differs from itself, and the comparison is not void")
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	good := runs(1, 1, time.Millisecond, 0)
	for want, spoil := range map[string]func(*measure.Result){
		"seed 2":         func(r *measure.Result) { r.Run.Seed = 2 },
		"scenario other": func(r *measure.Result) { r.Run.Scenario = "other" },
		"void for":       func(r *measure.Result) { r.Subjects[0].Valid, r.Subjects[0].Invalid = false, []string{"starved"} },
		"other subjects": func(r *measure.Result) { r.Subjects[0].Name = "x" },
		"schema":         func(r *measure.Result) { r.Schema = "v0" },
	} {
		head := runs(2, 2, time.Millisecond, 0)
		spoil(&head[1])
		if _, err := compare.Runs(good, head, compare.Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "head run 2") {
			t.Errorf("want an error of head run 2 with %q, got %v", want, err)
		}
	}
	if _, err := compare.Runs(nil, good, compare.Options{}); err == nil {
		t.Error("nothing was compared with something")
	}
}

func TestTable(t *testing.T) {
	c := compared(t, runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 8), compare.Options{})
	var out bytes.Buffer
	if err := compare.Table(&out, c); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/table.txt", out.Bytes())
	out.Reset()
	if err := compare.Markdown(&out, c); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/table.md", out.Bytes())
}

func ExampleRuns() {
	base, head := runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 0)
	c, err := compare.Runs(base, head, compare.Options{Budgets: map[string]compare.Budget{"reloads": {}}})
	if err != nil {
		panic(err)
	}
	for _, r := range c.Worse() {
		fmt.Println(r.Subject, r.Figure)
	}
	// Output:
	// dynamic requests.latency.p50
	// dynamic requests.latency.p99
}
