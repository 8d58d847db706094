package judge_test

import (
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
)

// The most severe of several outcomes counts; a skipped trial does not.
func TestTogether(t *testing.T) {
	for _, test := range []struct {
		all  []judge.Outcome
		want judge.Outcome
	}{
		{nil, judge.Passed},
		{[]judge.Outcome{judge.Passed, judge.Passed}, judge.Passed},
		{[]judge.Outcome{judge.Skipped}, judge.Passed},
		{[]judge.Outcome{judge.Inapplicable, judge.Passed}, judge.Passed},
		{[]judge.Outcome{judge.Passed, judge.Void, judge.Skipped}, judge.Void},
		{[]judge.Outcome{judge.Failed, judge.Void}, judge.Failed},
		{[]judge.Outcome{judge.Void, judge.Failed}, judge.Failed},
		{[]judge.Outcome{judge.Failed, judge.NotRun}, judge.NotRun},
		{[]judge.Outcome{judge.NotRun, judge.Interrupted, judge.Failed}, judge.Interrupted},
	} {
		if got := judge.Worst(test.all...); got != test.want {
			t.Errorf("%v: %s, want %s", test.all, got, test.want)
		}
	}
}

// Each expectation is checked for every subject to which it applies.
func TestChecks(t *testing.T) {
	s := &scenario.Scenario{File: "story.yaml", Spec: scenario.Spec{
		Subjects: []scenario.Subject{
			{Name: "one", Expect: []scenario.Expectation{{Expression: "reloads == 1"}}},
			{Name: "two", Expect: []scenario.Expectation{{Expression: "reloads == 2"}}},
		},
		Expect: []scenario.Expectation{{Expression: "reloads < 3"}},
	}}
	result := measure.Result{Subjects: []measure.Subject{
		{Name: "one", Valid: true, Reloads: 1}, {Name: "two", Reloads: 5}, {Name: "unnamed", Valid: true, Reloads: 3},
	}}
	want := []judge.Check{
		{Subject: "one", Evaluation: expect.Evaluation{Text: "reloads < 3", OK: true, Actual: "reloads = 1"}},
		{Subject: "one", Evaluation: expect.Evaluation{Text: "reloads == 1", OK: true, Actual: "reloads = 1"}},
		{Subject: "two", Void: true, Evaluation: expect.Evaluation{Text: "reloads < 3", Actual: "reloads = 5"}},
		{Subject: "two", Void: true, Evaluation: expect.Evaluation{Text: "reloads == 2", Actual: "reloads = 5"}},
		{Subject: "unnamed", Evaluation: expect.Evaluation{Text: "reloads < 3", Actual: "reloads = 3"}},
	}
	if got, err := judge.Checks(s, result); err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}

	s.Expect = []scenario.Expectation{{Expression: "reload == 1", Line: 7}}
	if _, err := judge.Checks(s, result); err == nil || !strings.HasPrefix(err.Error(), "story.yaml:7: ") {
		t.Errorf("error %v, want an error with the line", err)
	}
}

func check(subject, text string, ok, void bool) judge.Check {
	return judge.Check{Subject: subject, Void: void, Evaluation: expect.Evaluation{Text: text, OK: ok, Actual: text + " it is"}}
}

// A void run neither passes nor fails, whatever its values say.
func TestOutcome(t *testing.T) {
	valid, void := measure.Subject{Name: "a", Valid: true}, measure.Subject{Name: "b", Invalid: []string{"the host was starved", "and more"}}
	for name, test := range map[string]struct {
		subjects []measure.Subject
		checks   []judge.Check
		want     judge.Outcome
		note     string
	}{
		"nothing expected":         {[]measure.Subject{valid}, nil, judge.Passed, "0 expectations hold"},
		"met":                      {[]measure.Subject{valid}, []judge.Check{check("a", "x", true, false)}, judge.Passed, "1 expectation holds"},
		"not met":                  {[]measure.Subject{valid}, []judge.Check{check("a", "x", true, false), check("a", "y", false, false)}, judge.Failed, "a: y, but y it is"},
		"void, met":                {[]measure.Subject{void}, []judge.Check{check("b", "x", true, true)}, judge.Void, "b: the host was starved"},
		"void, not met":            {[]measure.Subject{void}, []judge.Check{check("b", "x", false, true)}, judge.Void, "b: the host was starved"},
		"void, another one failed": {[]measure.Subject{valid, void}, []judge.Check{check("a", "x", false, false), check("b", "x", true, true)}, judge.Void, "b: the host was starved"},
		"void without a reason":    {[]measure.Subject{{Name: "c"}}, nil, judge.Void, "c: its result gives no reason"},
	} {
		if got, note := judge.Of(measure.Result{Subjects: test.subjects}, test.checks); got != test.want || note != test.note {
			t.Errorf("%s: %s, %q, want %s, %q", name, got, note, test.want, test.note)
		}
	}
}

func inapplicable(subject, text string) judge.Check {
	return judge.Check{Subject: subject, Evaluation: expect.Evaluation{Text: text, Actual: "it has none", NotApplicable: "it has none"}}
}

// An expectation that does not apply neither holds nor fails; if none applies, neither does the run.
func TestInapplicable(t *testing.T) {
	met, failed, none := check("a", "x", true, false), check("a", "y", false, false), inapplicable("b", "z")
	for name, test := range map[string]struct {
		checks []judge.Check
		want   judge.Outcome
		note   string
	}{
		"others hold":   {[]judge.Check{met, none}, judge.Passed, "1 expectation holds, 1 not applicable"},
		"another fails": {[]judge.Check{none, failed}, judge.Failed, "a: y, but y it is"},
		"none applies":  {[]judge.Check{none, none}, judge.Inapplicable, "no expectation applies: it has none"},
	} {
		result := measure.Result{Subjects: []measure.Subject{{Name: "a", Valid: true}, {Name: "b", Valid: true}}}
		if got, note := judge.Of(result, test.checks); got != test.want || note != test.note {
			t.Errorf("%s: %s, %q, want %s, %q", name, got, note, test.want, test.note)
		}
	}
	if outcome, _ := judge.Of(measure.Result{Subjects: []measure.Subject{{Name: "b"}}}, []judge.Check{none}); outcome != judge.Void {
		t.Errorf("a void run is %s", outcome)
	}
	for verdict, c := range map[judge.Verdict]judge.Check{
		judge.Met: met, judge.NotMet: failed, judge.NotApplicable: none, judge.NotJudged: check("a", "x", true, true),
	} {
		if c.Verdict() != verdict {
			t.Errorf("%+v is %s, want %s", c, c.Verdict(), verdict)
		}
	}
}

// If a scenario is about a measurement that a subject cannot have, its expectations do not apply to it.
func TestInapplicableScenario(t *testing.T) {
	s := &scenario.Scenario{Spec: scenario.Spec{About: []string{"reloads"}, Expect: []scenario.Expectation{{Expression: "requests.failed > 0"}}}}
	result := measure.Result{Subjects: []measure.Subject{
		{Name: "nginx", Valid: true, Requests: measure.Requests{Failed: 1}},
		{Name: "single", Valid: true, NotApplicable: []measure.NotApplicable{{Measurements: []string{"reloads"}, Why: "it is one process"}}},
	}}
	checks, err := judge.Checks(s, result)
	if err != nil || len(checks) != 2 || checks[0].Verdict() != judge.Met || checks[1].NotApplicable != "the scenario is about reloads: it is one process" {
		t.Fatalf("%+v, %v", checks, err)
	}
	if outcome, note := judge.Of(result, checks); outcome != judge.Passed || note != "1 expectation holds, 1 not applicable" {
		t.Errorf("%s, %q", outcome, note)
	}
	result.Subjects = result.Subjects[1:]
	if outcome, note := judge.Of(result, checks[1:]); outcome != judge.Inapplicable || !strings.Contains(note, "about reloads") {
		t.Errorf("%s, %q", outcome, note)
	}
}

// An expectation that applies to no subject proves nothing, but the others of a control still count.
func TestInapplicableControl(t *testing.T) {
	red := check("a", "x", false, false)
	for name, test := range map[string]struct {
		fails  []string
		checks []judge.Check
		want   judge.Outcome
	}{
		"none applies":            {[]string{"z"}, []judge.Check{inapplicable("a", "z"), red}, judge.Inapplicable},
		"another one turns red":   {[]string{"z", "x"}, []judge.Check{inapplicable("a", "z"), red}, judge.Passed},
		"another one stays green": {[]string{"z", "y"}, []judge.Check{inapplicable("a", "z"), check("a", "y", true, false)}, judge.Failed},
		"it applies to a subject": {[]string{"z"}, []judge.Check{inapplicable("a", "z"), check("b", "z", false, false)}, judge.Passed},
		"green for that subject":  {[]string{"z"}, []judge.Check{inapplicable("a", "z"), check("b", "z", true, false)}, judge.Failed},
	} {
		if got, note := judge.OfControl(&scenario.Control{Fails: test.fails}, measure.Result{}, test.checks); got != test.want {
			t.Errorf("%s: %s, %q, want %s", name, got, note, test.want)
		}
	}
}

func TestOutcomeOfControl(t *testing.T) {
	broken := check("a", "x", false, false)
	broken.Error = "division by zero"
	for name, test := range map[string]struct {
		struck []measure.Struck
		checks []judge.Check
		want   judge.Outcome
		note   string
	}{
		"turns red":                {nil, []judge.Check{check("a", "x", false, false), check("a", "y", true, false)}, judge.Passed, "turns red: x it is"},
		"red for one of two":       {nil, []judge.Check{check("a", "x", true, false), check("b", "x", false, false)}, judge.Passed, "turns red: x it is"},
		"red in a void run":        {nil, []judge.Check{check("a", "x", false, true)}, judge.Passed, "turns red: x it is"},
		"green in a void run":      {nil, []judge.Check{check("a", "x", true, true)}, judge.Failed, "stays green: x holds under the mutation"},
		"stays green":              {nil, []judge.Check{check("a", "x", true, false), check("a", "y", false, false)}, judge.Failed, "stays green: x holds under the mutation"},
		"cannot be evaluated":      {nil, []judge.Check{broken}, judge.Failed, "stays green: x holds under the mutation"},
		"red, but nothing was hit": {[]measure.Struck{{Name: "api-5xx", Of: "requests", Times: 1, Missed: 1}}, []judge.Check{check("a", "x", false, false)}, judge.Void, "the control was not applied: the fault api-5xx struck nothing of a"},
	} {
		result := measure.Result{Subjects: []measure.Subject{{Name: "a", Struck: test.struck}}}
		if got, note := judge.OfControl(&scenario.Control{Fails: []string{"x"}}, result, test.checks); got != test.want || note != test.note {
			t.Errorf("%s: %s, %q, want %s, %q", name, got, note, test.want, test.note)
		}
	}
}

// A control whose fault struck nothing, or could not be made, proves nothing, whichever
// expectations fail.
func TestControlWithoutEffectIsVoid(t *testing.T) {
	for name, test := range map[string]struct {
		struck []measure.Struck
		want   string // the fault that did not strike
	}{
		"no fault":                    {nil, ""},
		"it struck":                   {[]measure.Struck{{Name: "api-5xx", Count: 3, Of: "requests", Times: 2, Missed: 1}}, ""},
		"it struck nothing":           {[]measure.Struck{{Name: "worker-kill", Count: 1, Of: "workers", Times: 1}, {Name: "api-5xx", Of: "requests", Times: 1, Missed: 1}}, "api-5xx"},
		"its subject was never there": {[]measure.Struck{{Name: "api-5xx", Of: "requests", Times: 1, Absent: 1}}, "api-5xx"},
		"it needed a live subject":    {[]measure.Struck{{Name: "config-torn", Times: 2, Absent: 1, Failed: 1}}, "config-torn"},
		"it could not be made":        {[]measure.Struck{{Name: "config-torn", Times: 1, Failed: 1}}, "config-torn"},
		"an older log":                {[]measure.Struck{{Name: "api-5xx", Times: 1, Untold: 1}}, ""},
	} {
		result := measure.Result{Subjects: []measure.Subject{{Name: "bundled", Struck: test.struck}}}
		outcome, note := judge.OfControl(&scenario.Control{}, result, nil)
		if (outcome == judge.Void) != (test.want != "") || !strings.Contains(note, test.want) {
			t.Errorf("%s: %s, %q", name, outcome, note)
		}
	}
}
