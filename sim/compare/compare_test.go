package compare_test

import (
	"bytes"
	"errors"
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

// runs returns n runs of one subject with random latencies around a mean, and with the given number
// of reloads.
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

func compareSubjects(t *testing.T, base, head []measure.Result, o compare.Options) compare.Comparison {
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
	t.Fatalf("the row %s is missing", figure)
	return compare.Row{}
}

func TestNothingChanged(t *testing.T) {
	c := compareSubjects(t, runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 50*time.Millisecond, 0), compare.Options{})
	for _, r := range c.Rows {
		if r.Verdict != compare.Same && r.Verdict != compare.Unsure {
			t.Errorf("%s is %s: %+v", r.Figure, r.Verdict, r)
		}
	}
	if c.Void() || !c.Controlled || c.Outcome != compare.NoneWorse {
		t.Errorf("%s: void %v, controlled %v", c.Outcome, c.Void(), c.Controlled)
	}
}

func TestSlowerIsWorse(t *testing.T) {
	base, slower := runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 0)
	c := compareSubjects(t, base, slower, compare.Options{})
	if r := row(t, c, "requests.latency.p50"); r.Verdict != compare.Worse || r.Change < 0.4 || r.P >= 0.05 || r.Detectable == 0 {
		t.Errorf("got %+v", r)
	}
	if r := row(t, c, "converge.last.p50"); r.Verdict != compare.Unsure {
		t.Errorf("a figure that did not change: %+v", r)
	}
	if r := row(t, compareSubjects(t, slower, base, compare.Options{}), "requests.latency.p50"); r.Verdict != compare.Better {
		t.Errorf("the other way round: %+v", r)
	}
}

// A significant difference can still be too small to matter: less than a tenth, or less than the
// measurement error of the figure.
func TestFloors(t *testing.T) {
	for _, test := range []struct {
		what       string
		base, head time.Duration
		want       compare.Verdict
	}{
		{"under a tenth", 100 * time.Millisecond, 107 * time.Millisecond, compare.Unsure},
		{"under 0.1 ms", 200 * time.Microsecond, 280 * time.Microsecond, compare.Unsure},
		{"a small latency, doubled", 2 * time.Millisecond, 4 * time.Millisecond, compare.Worse},
		{"2 ms and 42 %", 2 * time.Millisecond, 2840 * time.Microsecond, compare.Worse},
	} {
		c := compareSubjects(t, runs(1, 20, test.base, 0), runs(2, 20, test.head, 0), compare.Options{})
		if r := row(t, c, "requests.latency.p50"); r.Verdict != test.want || r.P >= 0.05 {
			t.Errorf("%s: %+v", test.what, r)
		}
	}
}

// The budgets of the options override the defaults, even for figures that vary.
func TestTimesHaveBudgets(t *testing.T) {
	base, head := runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 0)
	for _, test := range []struct {
		name string
		o    compare.Options
		want compare.Verdict
	}{
		{"default", compare.Options{}, compare.Worse},
		{"a larger share", compare.Options{Relative: 0.6}, compare.Unsure},
		{"a larger least time", compare.Options{Absolute: 0.05}, compare.Unsure},
		{"its own share", compare.Options{Budgets: map[string]measure.Budget{"requests.latency.p50": {Rel: 0.6}}}, compare.Unsure},
		{"its own time", compare.Options{Relative: 0.6, Budgets: map[string]measure.Budget{"requests.latency.p50": {More: 0.01}}}, compare.Worse},
	} {
		if r := row(t, compareSubjects(t, base, head, test.o), "requests.latency.p50"); r.Verdict != test.want {
			t.Errorf("%s: %+v", test.name, r)
		}
	}
}

// A rise from zero counts, although it has no relative size.
func TestRiseFromZeroCounts(t *testing.T) {
	base, head := runs(1, 10, time.Millisecond, 0), runs(2, 10, time.Millisecond, 0)
	for i := range head {
		head[i].Subjects[0].Outage = time.Second + time.Duration(i)
		head[i].Subjects[0].Requests.Stale = measure.Durations{N: 100 + i, Max: time.Second}
	}
	c := compareSubjects(t, base, head, compare.Options{})
	for _, figure := range []string{"outage", "requests.stale.n", "requests.stale.max"} {
		if r := row(t, c, figure); r.Verdict != compare.Worse {
			t.Errorf("got %+v", r)
		}
	}
}

// The number of sockets rises if a template closes the connections of clients.
func TestMoreSocketsAreWorse(t *testing.T) {
	base, head := runs(1, 2, time.Millisecond, 0), runs(2, 2, time.Millisecond, 0)
	for i := range head {
		base[i].Subjects[0].Requests.Sockets, head[i].Subjects[0].Requests.Sockets = 2, 210
	}
	if c := compareSubjects(t, base, head, compare.Options{}); row(t, c, "requests.sockets").Verdict != compare.Worse || c.Outcome != compare.SomeWorse {
		t.Errorf("%s: %+v", c.Outcome, c.Rows)
	}
}

func TestCountsHaveBudgets(t *testing.T) {
	for _, test := range []struct {
		base, head int
		budgets    map[string]measure.Budget
		want       compare.Verdict
	}{
		{0, 1, nil, compare.Same},
		{0, 2, nil, compare.Worse},
		{0, 1, map[string]measure.Budget{"reloads": {}}, compare.Worse},
		{30, 33, nil, compare.Same},
		{30, 34, nil, compare.Worse},
		{30, 20, nil, compare.Better},
	} {
		c := compareSubjects(t, runs(1, 1, time.Millisecond, test.base), runs(2, 1, time.Millisecond, test.head), compare.Options{Budgets: test.budgets})
		if r := row(t, c, "reloads"); r.Verdict != test.want {
			t.Errorf("%d to %d reloads with budgets %v: %s, want %s", test.base, test.head, test.budgets, r.Verdict, test.want)
		}
	}
}

// A single bad run among many is enough for a count.
func TestWorstRunCounts(t *testing.T) {
	head := runs(2, 10, time.Millisecond, 0)
	head[7].Subjects[0].Requests.Unexplained = 1
	if r := row(t, compareSubjects(t, runs(1, 10, time.Millisecond, 0), head, compare.Options{}), "requests.unexplained"); r.Verdict != compare.Worse {
		t.Errorf("%+v", r)
	}
}

// If no difference could be significant, that is the outcome, unless a count is worse or only
// counts are compared.
func TestTooFewRuns(t *testing.T) {
	c := compareSubjects(t, runs(1, 3, time.Millisecond, 0), runs(2, 3, time.Second, 0), compare.Options{})
	if r := row(t, c, "requests.latency.p50"); r.Verdict != compare.TooFew {
		t.Errorf("got %+v", r)
	}
	if c.Controlled {
		t.Error("three runs have no A/A control")
	}
	if c.Outcome != compare.CannotSay || c.Needed != 5 {
		t.Errorf("%s, %d runs are needed", c.Outcome, c.Needed)
	}
	if c := compareSubjects(t, runs(1, 3, time.Millisecond, 0), runs(2, 3, time.Second, 9), compare.Options{}); c.Outcome != compare.SomeWorse {
		t.Error(c.Outcome)
	}
	c = compareSubjects(t, runs(1, 1, time.Millisecond, 0), runs(2, 1, time.Second, 0), compare.Options{Figures: []string{"reloads", "requests.f*"}})
	if c.Outcome != compare.NoneWorse || len(c.Rows) != 2 {
		t.Errorf("%s: %+v", c.Outcome, c.Rows)
	}
}

// The number of runs that a comparison asks for is enough, and one run less is not.
func TestNeededRuns(t *testing.T) {
	for n := 3; n < 12; n++ {
		c := compareSubjects(t, runs(1, n, time.Millisecond, 0), runs(2, n, time.Second, 0), compare.Options{})
		told := row(t, c, "requests.latency.p50").Verdict == compare.Worse
		if told != (n >= c.Needed) {
			t.Errorf("with %d of %d needed runs, the verdict is %s", n, c.Needed, row(t, c, "requests.latency.p50").Verdict)
		}
	}
}

// A figure that only few runs have does not affect the other figures.
func TestFigureInFewRuns(t *testing.T) {
	base, head := runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 0)
	base[0].Subjects[0].Balance = measure.Balance{Services: 1, Hottest: 1.1}
	head[0].Subjects[0].Balance = measure.Balance{Services: 1, Hottest: 1.2}
	c := compareSubjects(t, base, head, compare.Options{})
	if r := row(t, c, "balance.hottest"); r.Verdict != compare.TooFew {
		t.Errorf("got %+v", r)
	}
	if r := row(t, c, "requests.latency.p50"); r.Verdict != compare.Worse {
		t.Errorf("got %+v", r)
	}
}

// A machine that changes during the runs of base makes the comparison void.
func TestAAControl(t *testing.T) {
	base := runs(1, 12, 50*time.Millisecond, 0)
	for i := range base {
		if i%2 == 1 {
			base[i].Subjects[0].Requests.Latency.P50 *= 2
		}
	}
	if c := compareSubjects(t, base, runs(2, 12, 50*time.Millisecond, 0), compare.Options{}); !c.Void() {
		t.Error("base differs from itself, and the comparison is not void")
	}
}

func TestRunsThatCannotBeCompared(t *testing.T) {
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
	for _, o := range []compare.Options{{Figures: []string{"reload"}}, {Budgets: map[string]measure.Budget{"reload": {}}}} {
		if _, err := compare.Runs(good, good, o); err == nil || !strings.Contains(err.Error(), `no figure "reload"; the figures are reloads, `) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if _, err := compare.Runs(nil, good, compare.Options{}); err == nil {
		t.Error("a comparison with an empty set of runs gave no error")
	}
}

// Figures whose rise could not have been detected are named.
func TestNoisyFiguresAreNamed(t *testing.T) {
	base, head := runs(1, 10, time.Millisecond, 0), runs(2, 10, time.Millisecond, 0)
	for i := range base {
		base[i].Subjects[0].CPU.Nginx = time.Duration(i*i+1) * time.Second
		head[i].Subjects[0].CPU.Nginx = time.Duration(i*i+2) * time.Second
	}
	var out bytes.Buffer
	if err := compare.Table(&out, compareSubjects(t, base, head, compare.Options{})); err != nil {
		t.Fatal(err)
	}
	if want := "the runs might have missed a doubling: cpu.nginx of dynamic."; !strings.Contains(out.String(), want) {
		t.Errorf("the output lacks %q:\n%s", want, out.String())
	}
}

func TestTable(t *testing.T) {
	c := compareSubjects(t, runs(1, 10, 50*time.Millisecond, 0), runs(2, 10, 75*time.Millisecond, 8), compare.Options{})
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
	c, err := compare.Runs(base, head, compare.Options{Budgets: map[string]measure.Budget{"reloads": {}}})
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

func TestMarkdownEscapesNames(t *testing.T) {
	c := compare.Comparison{
		Scenario: "a<b>\n# c", Rows: []compare.Row{{Subject: "<script>", Figure: "[x](y)"}}, Control: []compare.Row{{Subject: "*s*", Figure: "f"}},
	}
	var out strings.Builder
	if err := compare.Markdown(&out, c); err != nil {
		t.Fatal(err)
	}
	for _, raw := range []string{"<b>", "<script>", "\n# c", "[x](", "*s*"} {
		if strings.Contains(out.String(), raw) {
			t.Errorf("%q is not escaped:\n%s", raw, &out)
		}
	}
	if c.Rows[0].Subject != "<script>" {
		t.Error("printing modified the comparison")
	}
}

// A figure that only one side has shows the value of that side.
func TestOneSideHasNoValue(t *testing.T) {
	base, head := runs(1, 6, 50*time.Millisecond, 0), runs(2, 6, 50*time.Millisecond, 0)
	for i := range head {
		head[i].Subjects[0].Converge.Last = measure.Durations{}
	}
	c := compareSubjects(t, base, head, compare.Options{})
	r := row(t, c, "converge.last.p50")
	if r.Verdict != compare.NoData || r.Base < 1.8 || r.Base > 2.2 || r.Head != 0 {
		t.Errorf("got %+v, want a base of about 2 s", r)
	}
	var out bytes.Buffer
	if err := compare.Table(&out, c); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		if strings.Contains(line, "converge.last.p50") && (strings.Contains(line, " 0 s") || !strings.Contains(line, "–")) {
			t.Errorf("the row shows a value that nobody measured: %s", line)
		}
	}
}

// A result that says that its run is void, but not why, gets an error as well.
func TestVoidWithoutReason(t *testing.T) {
	base, head := runs(1, 1, time.Second, 0), runs(2, 1, time.Second, 0)
	head[0].Subjects[0].Valid = false
	var void compare.VoidError
	if _, err := compare.Runs(base, head, compare.Options{}); !errors.As(err, &void) || void.Why == "" {
		t.Errorf("got %v, want a VoidError with a reason", err)
	}
}
