package report_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/scenario"
)

// run is a measured run with its expectations.
type run struct {
	result measure.Result
	series measure.Series
	checks []judge.Check
}

// runs are those that a test has measured, by the events added. Tests share and do not modify them.
var runs = struct {
	sync.Mutex
	by map[string]run
}{by: make(map[string]run)}

// measured is a realistic run, with more events, and expectations that pass and fail.
func measured(t testing.TB, more ...event.Event) (measure.Result, measure.Series, []judge.Check) {
	t.Helper()
	runs.Lock()
	defer runs.Unlock()
	added, err := json.Marshal(more)
	if err != nil {
		t.Fatal(err)
	}
	r, known := runs.by[string(added)]
	if !known {
		r = measureRun(t, more)
		runs.by[string(added)] = r
	}
	return r.result, r.series, r.checks
}

func measureRun(t testing.TB, more []event.Event) run {
	t.Helper()
	events := append(measuretest.Log(1, 6*time.Second), more...)
	result, series, err := measure.From(measuretest.Seq(events))
	if err != nil {
		t.Fatal(err)
	}
	var checks []judge.Check
	for _, text := range []string{"reloads == 0", `converge.last.p99 < duration("1500ms")`, "requests.failed == 0 && requests.unexplained == 0"} {
		of, err := judge.Checks(&scenario.Scenario{Spec: scenario.Spec{Expect: []scenario.Expectation{{Expression: text}}}}, result)
		if err != nil {
			t.Fatal(err)
		}
		checks = append(checks, of...)
	}
	return run{result, series, checks}
}

// void are events that make a run void and report a trouble.
var void = []event.Event{
	{At: 2 * time.Second, Subject: measuretest.Reload, Trouble: &event.Trouble{What: "nginx wrote an alert", Detail: "worker process 7 exited on signal 11"}},
	{At: 3 * time.Second, Phase: &event.Phase{Name: event.Cut}},
	{Subject: measuretest.Reload, PodSockets: &event.PodSockets{Mode: event.OwnSockets, Why: "attach a program: operation not permitted"}},
	{Subject: measuretest.Dynamic, PodSockets: &event.PodSockets{Mode: event.SharedSockets}},
}

func TestTable(t *testing.T) {
	t.Parallel()
	for name, more := range map[string][]event.Event{"table": nil, "table-void": void} {
		t.Run(name, func(t *testing.T) {
			result, series, checks := measured(t, more...)
			var out bytes.Buffer
			if err := report.Table(&out, result, series, checks); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), "\x1b") {
				t.Error("the output has colours although it is not a terminal")
			}
			for line := range strings.Lines(out.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			golden.Check(t, "testdata/"+name+".txt", out.Bytes())
		})
	}
}

func TestEmptyTable(t *testing.T) {
	var out bytes.Buffer
	result := measure.Result{Subjects: []measure.Subject{{Name: "empty"}}}
	if err := report.Table(&out, result, measure.Series{}, nil); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "testdata/table-nothing.txt", out.Bytes())
}

func TestJSONRoundTrip(t *testing.T) {
	t.Parallel()
	result, _, checks := measured(t)
	var out bytes.Buffer
	if err := report.JSON(&out, result, checks); err != nil {
		t.Fatal(err)
	}
	var read struct {
		measure.Result
		Checks []judge.Check `json:"outcomes"`
	}
	lines := json.NewDecoder(&out)
	lines.DisallowUnknownFields()
	if err := lines.Decode(&read); err != nil {
		t.Fatal(err)
	}
	if read.Schema != measure.Schema || len(read.Subjects) != 2 || read.Subjects[1].Reloads != result.Subjects[1].Reloads {
		t.Errorf("read back %+v", read.Result)
	}
	if len(read.Checks) != len(checks) || read.Checks[0] != checks[0] {
		t.Errorf("read back %+v", read.Checks)
	}
}
