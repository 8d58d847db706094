package expect_test

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/measure"
)

var subject = measure.Subject{
	Name: "reload", Reloads: 7, Valid: true,
	Converge: measure.Converge{Last: measure.Durations{N: 3, P99: 1500 * time.Millisecond}},
	Requests: measure.Requests{Sent: 100, Failed: 3, Bound: 0.03, Causes: map[string]int{"reset": 3}},
	Lanes: []measure.Lane{
		{Name: "http", Requests: measure.Requests{Sent: 50}},
		{Name: "post", Requests: measure.Requests{Sent: 50, Failed: 3, Causes: map[string]int{"reset": 3}}},
	},
	Memory:  measure.Memory{PeakRSS: 300 << 20},
	Workers: measure.Workers{Exited: 2, Untold: 2},
}

func TestCheck(t *testing.T) {
	for _, test := range []struct {
		text   string
		ok     bool
		actual string
	}{
		{"reloads == 7", true, "reloads = 7"},
		{"reloads == 0 && valid", false, "reloads = 7, valid = true"},
		{`converge.last.p99 < duration("2s")`, true, "converge.last.p99 = 1.5s"},
		{`converge.last.p99 < duration("1s") || converge.last.p99 > duration("1h")`, false, "converge.last.p99 = 1.5s"},
		{`requests.causes["reset"] == 3`, true, `requests.causes["reset"] = 3`},
		{`requests.causes["refused"] == 0`, true, `requests.causes["refused"] = 0`},
		{"requests.bound < 1", true, "requests.bound = 0.03"},
		{"requests.failed * 100 <= requests.sent", false, "requests.failed = 3, requests.sent = 100"},
		{"memory.peakRSS < 200 * 1024 * 1024", false, "memory.peakRSS = 314572800"},
		{`lanes.exists(l, l.name == "post" && l.failed == 3)`, true, `lanes.map(l, l.name) = ["http", "post"], lanes.map(l, l.failed) = [0, 3]`},
		{`lanes.all(l, l.causes["timeout"] == 0 && reloads == 7)`, true, `lanes.map(l, l.causes["timeout"]) = [0, 0], reloads = 7`},
		{`lanes.all(l, lanes.exists(m, m.sent > l.failed))`, true, `lanes.map(m, m.sent) = [50, 50], lanes.map(l, l.failed) = [0, 3]`},
		{`lanes.filter(l, l.failed > 0).all(l, l.name == "http")`, false, `lanes.map(l, l.failed) = [0, 3]`},
		{`lanes.filter(l, l.failed > 9).all(l, l.retries == 0)`, false, `lanes.map(l, l.failed) = [0, 3]; lanes.filter(l, l.failed > 9) is empty: nothing to measure`},
		{`lanes.filter(l, l.name == "pots").all(l, l.failed == 0)`, false, ""},
		{`lanes.all(l, l.name != "pots" || l.failed == 0)`, false, `lanes.map(l, l.name) = ["http", "post"], lanes.map(l, l.failed) = [0, 3]; there is no lane "pots"`},
		{`!lanes.exists(l, "pots" == l.name && l.failed > 0)`, false, ""},
		{`lanes.all(l, l.name != "http" || l.failed == 0)`, true, ""},
		{`trouble.all(t, !t.contains("alert"))`, true, ""},
		{`struck.all(f, f.count > 0)`, false, ""},
		{`!struck.exists(f, f.failed > 0)`, false, ""},
		{`size(trouble) == 0`, true, "trouble = []"},
		{`lanes[1].failed == 0`, false, "lanes[1].failed = 3"},
		{`name in ["reload", "dynamic"]`, true, `name = "reload"`},
		{`converge.first.p99 < duration("2s")`, false, "converge.first.p99 = nothing to measure"},
		{`converge.first.n == 0 || converge.first.p99 < duration("2s")`, true, "converge.first.n = 0, converge.first.p99 = nothing to measure"},
		{`changes.unconverged == 0`, false, "changes.unconverged = nothing to measure"},
		{`changes.made == 0 || changes.unconverged == 0`, true, ""},
		{`posts.count == 0`, false, "posts.count = nothing to measure"},
		{`syncs.failed == 0`, false, ""},
		{`balance.hottest < 2.0`, false, ""},
		{`certificates.unseen == 0`, false, ""},
		{`start.unserved == 0`, false, ""},
		{`cpu.nginx < duration("1s")`, false, ""},
		{`memory.peakPSS < 100`, false, "memory.peakPSS = nothing to measure"},
		{`workers.crashed == 0`, false, ""},
		{`size(workers.first) == 0`, true, "workers.first = []"},
	} {
		t.Run(test.text, func(t *testing.T) {
			e, err := expect.Compile(test.text)
			if err != nil {
				t.Fatal(err)
			}
			got, err := e.Evaluate(subject)
			if err != nil {
				t.Fatal(err)
			}
			if got.OK != test.ok || got.Text != test.text {
				t.Errorf("evaluation %+v, want OK %v", got, test.ok)
			}
			if test.actual != "" && got.Actual != test.actual {
				t.Errorf("actual %q, want %q", got.Actual, test.actual)
			}
			t.Log(got.Actual)
		})
	}
}

// An expectation that depends on a measurement which the subject cannot have is neither met nor failed.
func TestNotApplicable(t *testing.T) {
	single := subject
	single.Reloads, single.Workers.Alive = 0, 1
	single.NotApplicable = []measure.NotApplicable{
		{Measurements: []string{"reloads", "workers.alive", "workers.history"}, Why: "it is one process"},
		{Measurements: []string{"posts"}, Why: "it has none"},
	}
	for text, want := range map[string]string{
		"reloads >= 2": "reloads: it is one process",
		"reloads == 0": "reloads: it is one process",
		"reloads >= 2 && workers.alive >= 2 && posts.count > 0": "reloads: it is one process; posts: it has none",
		"workers.history.all(h, h.workers == 2)":                "workers.history: it is one process",
		"requests.failed <= 30 * reloads":                       "reloads: it is one process",
		`lanes.all(l, l.name != "post" || l.failed <= reloads)`: "reloads: it is one process",
		// These do not depend on it.
		"workers.exited == 2":                      "",
		"requests.sent == 100 || reloads >= 2":     "",
		"requests.sent == 0 && reloads >= 2":       "",
		`lanes.all(l, l.failed > 0 || l.sent > 0)`: "",
	} {
		e, err := expect.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		got, err := e.Evaluate(single)
		if err != nil || got.NotApplicable != want {
			t.Errorf("%s: %+v, %v; want not applicable: %q", text, got, err, want)
		}
		if want != "" && (got.OK || got.Actual != want) {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, test := range []struct {
		text string
		want []string
	}{
		{"reload == 0", []string{"column 1", "'reload'", "there are", "reloads"}},
		{"reloads == 0 && converge.last.p98 < duration('1s')", []string{"p98", "converge.last has", "p50", "p99"}},
		{"reloads", []string{"not a condition", "int"}},
		{"reloads == '0'", []string{"no matching overload", "int", "string"}},
		{"converge.last.p99 < 2", []string{"no matching overload", `write a duration as duration("8s")`}},
		{"converge.last.max < '8s'", []string{"no matching overload", `write a duration as duration("8s")`}},
		{"converge.last.max < 8s", []string{"column 22", `write the duration 8s as duration("8s")`}},
		{"reloads == 0 &&\n converge.last.max < 1m30s", []string{"line 2", `write the duration 1m30s as duration("1m30s")`}},
		{"1.5s > converge.last.max", []string{`write the duration 1.5s as duration("1.5s")`}},
		{"converge.last.max < 800us", []string{`write the duration 800us as duration("800us")`}},
		{"memory.peakRSS < 8MiB", []string{"write the size 8MiB in bytes, as 8 * 1024 * 1024"}},
		{"reloads ==", []string{"column 11", "the end of the text"}},
		{" ", []string{"is empty"}},
		{`requests.causes["refusd"] == 0`, []string{`"refusd"`, "column 17", "refused"}},
		{`lanes.all(l, l.causes["our-cancel"] == 0)`, []string{`"our-cancel"`}},
		{`requests.causes[3] == 0`, []string{"no matching overload"}},
		{"lanes.all(l, l.fail == 0)", []string{"column 15", "fail"}},
		{"requests.causes.refusd == 0", []string{`"refusd"`, "column 16", "refused"}},
		{"lanes.all(l, l.causes.refusd == 0)", []string{`"refusd"`, "column 22", "refused"}},
		{"reloads == 0 &&\n  requests.faild == 0", []string{"line 2, column 11", "requests has", "failed"}},
		{"reloads == 0 &&\n faild == 0 || sentt == 0", []string{"line 2, column 2", "'faild'", "there are"}},
		{"reload == 0 &&\nsentt == 0", []string{"line 1, column 1", "'reload'"}},
		{"reloads == 0 &&\nrequests.causes['refusd'] == 0", []string{"line 2, column 17", `"refusd"`}},
		{"reloads ==\n  ", []string{"line 2, column 3", "the end of the text"}},
	} {
		t.Run(test.text, func(t *testing.T) {
			_, err := expect.Compile(test.text)
			if err == nil {
				t.Fatal("compiled")
			}
			t.Log(err)
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %v", err)
			}
			for _, want := range test.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %v lacks %q", err, want)
				}
			}
		})
	}
}

// A unit elsewhere in the text has nothing to do with the error.
func TestCompileExplainsOnlyTheUnitAtTheError(t *testing.T) {
	for _, text := range []string{`reloads == == 0 && converge.last.max < duration("8s")`, `converge.last.max < duration("8s") && reloads ==`, "reloads < v8s", "converge.last.max * 2 < reloads"} {
		if _, err := expect.Compile(text); err == nil || strings.Contains(err.Error(), "write ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestCheckReportsEvaluationErrors(t *testing.T) {
	for _, text := range []string{"1/0 == 1", "lanes[9].failed == 0", "requests.sent / converge.flaps > 1"} {
		e, err := expect.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := e.Evaluate(subject); err != nil || v.OK || v.Error == "" || !strings.Contains(v.Actual, "it cannot be evaluated: ") {
			t.Errorf("%s: %+v, %v, want an evaluation with the error", text, v, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"reloads == 0", `converge.last.p99 < duration("2s")`, `lanes.all(l, l.failed == 0)`, "requests.causes['reset'] > 1", "(", "a.b.c"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := expect.Compile(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
			return
		}
		v, err := e.Evaluate(subject)
		if err == nil && v.Text != e.String() {
			t.Errorf("the evaluation of %q has the text %q", e, v.Text)
		}
	})
}
