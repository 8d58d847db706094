package trial

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/scenario"
)

func story(subjects ...scenario.Subject) *scenario.Scenario {
	return &scenario.Scenario{Name: "story", Spec: scenario.Spec{Subjects: subjects}}
}

var (
	ours   = scenario.Subject{Name: "ours", Controller: scenario.Bundled, Flags: map[string]string{"v": "2"}, Config: map[string]string{"a": "1"}, Expect: []scenario.Expectation{{Expression: "reloads == 0"}}}
	theirs = scenario.Subject{Name: "theirs", Controller: "/bin/theirs"}
	fork   = scenario.Subject{Name: "fork", Controller: "/bin/fork", Lua: "/lua", Flags: map[string]string{"x": "y"}}
	other  = scenario.Subject{Name: "other", Adapter: "/other.yaml"}
)

func TestReplace(t *testing.T) {
	for name, test := range map[string]struct {
		of   *scenario.Scenario
		with []scenario.Subject
		want []scenario.Subject
	}{
		"nothing": {story(ours, theirs), nil, []scenario.Subject{ours, theirs}},
		"the same adapter keeps the flags": {story(ours, theirs), []scenario.Subject{fork}, []scenario.Subject{
			{Name: "fork", Controller: "/bin/fork", Lua: "/lua", Flags: map[string]string{"v": "2", "x": "y"}, Config: ours.Config, Expect: ours.Expect}, theirs,
		}},
		"another adapter has flags of its own": {story(ours), []scenario.Subject{other}, []scenario.Subject{
			{Name: "other", Adapter: "/other.yaml", Flags: map[string]string{}, Config: ours.Config, Expect: ours.Expect},
		}},
		"two subjects in place of one": {story(ours), []scenario.Subject{{Name: "bundled", Controller: scenario.Bundled}, fork}, []scenario.Subject{
			{Name: "bundled", Controller: scenario.Bundled, Flags: ours.Flags, Config: ours.Config, Expect: ours.Expect},
			{Name: "fork", Controller: "/bin/fork", Lua: "/lua", Flags: map[string]string{"v": "2", "x": "y"}, Config: ours.Config, Expect: ours.Expect},
		}},
		"two subjects in place of two, which have no counterparts": {
			story(ours, scenario.Subject{Name: "reload", Controller: scenario.Bundled}, theirs), []scenario.Subject{fork, other}, []scenario.Subject{fork, other, theirs},
		},
		"one subject in place of two, which keep their names": {
			story(ours, scenario.Subject{Name: "reload", Controller: scenario.Bundled}), []scenario.Subject{{Name: "fork", Controller: "/f"}}, []scenario.Subject{
				{Name: "ours", Controller: "/f", Flags: ours.Flags, Config: ours.Config, Expect: ours.Expect},
				{Name: "reload", Controller: "/f", Flags: map[string]string{}, Config: map[string]string{}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := story(test.of.Subjects...)
			got, err := Replace(test.of, test.with)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Subjects); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, test.of); diff != "" {
				t.Errorf("the scenario was modified (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplaceRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		of   *scenario.Scenario
		with []scenario.Subject
		want string
	}{
		"nothing to replace": {story(theirs), []scenario.Subject{fork}, "no subject of story uses the bundled controller"},
		"the same name":      {story(ours, theirs), []scenario.Subject{{Name: "theirs", Controller: "/x"}}, "two subjects are named theirs"},
	} {
		if _, err := Replace(test.of, test.with); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", name, err, test.want)
		}
	}
}

func TestSideChanges(t *testing.T) {
	for name, test := range map[string]struct {
		side Side
		want bool
	}{
		"nothing":           {Side{Name: "base"}, false},
		"named bundled":     {Side{Subject: scenario.Subject{Name: "bundled", Controller: scenario.Bundled}}, false},
		"another one":       {Side{Subject: fork}, true},
		"another Lua":       {Side{Subject: scenario.Subject{Controller: scenario.Bundled, Lua: "/lua"}}, true},
		"a flag":            {Side{Flags: map[string]string{"v": "2"}}, true},
		"a program on PATH": {Side{Subject: other}, true},
	} {
		if got := test.side.Changes(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
	if got := (Side{Name: "head", Subject: fork}).In(story(ours, theirs)); got.Subjects[0].Name != "ours" || got.Subjects[0].Controller != "/bin/fork" || got.Subjects[1].Controller != theirs.Controller {
		t.Errorf("%+v", got.Subjects)
	}
}

// If the bundled controller replaces itself, it keeps the settings of the subject that the side does not
// override.
func TestBundledInPlaceOfItself(t *testing.T) {
	tuned := scenario.Subject{
		Name: "tuned", Controller: scenario.Bundled, Adapter: "/mine.yaml", Nginx: "/nginx", Lua: "/lua", Template: "/nginx.tmpl",
		Flags: map[string]string{"v": "2"}, Config: map[string]string{"a": "1"},
	}
	original := story(tuned, theirs)
	if diff := cmp.Diff(original, Side{Name: "base"}.In(original)); diff != "" {
		t.Errorf("a side without changes (-want +got):\n%s", diff)
	}
	want := tuned
	want.Lua = "/other"
	if diff := cmp.Diff(story(want, theirs), Side{Subject: scenario.Subject{Controller: scenario.Bundled, Lua: "/other"}}.In(original)); diff != "" {
		t.Errorf("a side with another Lua (-want +got):\n%s", diff)
	}
	if got := (Side{Subject: fork}).In(original).Subjects[0]; got.Template != "" || got.Nginx != "" || got.Lua != "/lua" {
		t.Errorf("a fork got settings of the bundled controller: %+v", got)
	}
}

// A control that sets flags of ingress-nginx does not apply to a controller with another adapter.
func TestReplaceControl(t *testing.T) {
	flags, fault := scenario.Control{Flags: map[string]string{"v": "2"}}, scenario.Control{Timeline: []scenario.Step{{Fault: "worker-kill"}}}
	for name, test := range map[string]struct {
		control scenario.Control
		with    scenario.Subject
		want    string
	}{
		"a fork":                    {flags, fork, ""},
		"another adapter":           {flags, other, "it sets flags or ConfigMap keys of ingress-nginx, which the adapter of other does not have"},
		"another adapter, no flags": {fault, other, ""},
	} {
		original := story(ours)
		original.Control = &test.control
		replaced, err := Replace(original, []scenario.Subject{test.with})
		if err != nil || replaced.Control.NotApplicable != test.want || original.Control.NotApplicable != "" {
			t.Errorf("%s: %q, %v", name, replaced.Control.NotApplicable, err)
		}
		ended := Do(t.Context(), Trial{Scenario: replaced, Control: true, Driver: unable{}, Dir: t.TempDir()})
		if applies := ended.Outcome != judge.Inapplicable; applies != (test.want == "") || !applies && ended.Note() != "the control does not apply: "+test.want {
			t.Errorf("%s: %s, %s", name, ended.Outcome, ended.Note())
		}
	}
}
