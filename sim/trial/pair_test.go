package trial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// void returns a function whose first runs are void; later ones end with err, which may be nil.
func void(t *testing.T, dir string, times int, err error) (run func() (judge.Outcome, error), made *int) {
	made = new(int)
	return func() (judge.Outcome, error) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		*made++
		switch {
		case *made <= times:
			return judge.Void, nil
		case err != nil:
			return judge.NotRun, err
		}
		return judge.Passed, nil
	}, made
}

func TestVoidRunIsRepeated(t *testing.T) {
	broken := errors.New("no room")
	for _, test := range []struct {
		name       string
		voids      int
		err        error
		want       judge.Outcome
		made, kept int
	}{
		{"valid", 0, nil, judge.Passed, 1, 0},
		{"void once", 1, nil, judge.Passed, 2, 1},
		{"void for ever", tries, nil, judge.Void, tries, tries - 1},
		{"broken", 0, broken, judge.NotRun, 1, 0},
		{"void, then broken", 1, broken, judge.NotRun, 2, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir()
			dir := filepath.Join(out, "head", "01")
			run, made := void(t, dir, test.voids, test.err)
			var stderr strings.Builder
			got, err := UntilValid(dir, filepath.Join(out, "void", "head-01"), &stderr, run)
			if got != test.want || !errors.Is(err, test.err) || *made != test.made {
				t.Errorf("%s, %v after %d runs, want %s after %d", got, err, *made, test.want, test.made)
			}
			kept, _ := filepath.Glob(filepath.Join(out, "void", "head-01-*"))
			if len(kept) != test.kept {
				t.Errorf("kept %v, want %d", kept, test.kept)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("the folder of the last run is missing: %v", err)
			}
			if told := strings.Contains(stderr.String(), "01 is still void after 3 runs ("); told != (test.want == judge.Void) {
				t.Errorf("stderr %q", stderr.String())
			}
		})
	}
}

// Neither side always runs first, and each has all its runs.
func TestSidesTakeTurns(t *testing.T) {
	var order []string
	for i := range 6 {
		side, run := turnOf(i)
		order = append(order, fmt.Sprintf("%c%d", "AB"[side], run))
	}
	if got := strings.Join(order, " "); got != "A1 B1 B2 A2 A3 B3" {
		t.Error(got)
	}
}

// A side replaces only the subjects that run the bundled controller.
func TestSideReplacesTheBundledController(t *testing.T) {
	original := &scenario.Scenario{Name: "story", Spec: scenario.Spec{Subjects: []scenario.Subject{
		{Name: "ours", Controller: scenario.Bundled, Flags: map[string]string{"a": "1", "b": "1"}},
		{Name: "theirs", Controller: "/bin/true"},
	}}}
	side := Side{Name: "head", Flags: map[string]string{"b": "2"}, Config: map[string]string{"c": "3"}}
	got := side.In(original).Subjects
	if ours := got[0]; ours.Flags["a"] != "1" || ours.Flags["b"] != "2" || ours.Config["c"] != "3" {
		t.Errorf("got %+v", ours)
	}
	if theirs := got[1]; len(theirs.Flags)+len(theirs.Config) > 0 {
		t.Errorf("got %+v", theirs)
	}
	if original.Subjects[0].Flags["b"] != "1" {
		t.Error("the scenario was modified")
	}

	foreign := &scenario.Scenario{Spec: scenario.Spec{Subjects: original.Subjects[1:]}}
	for name, test := range map[string]struct {
		side Side
		of   *scenario.Scenario
		fits bool
	}{
		"something to replace": {side, original, true},
		"nothing to replace":   {side, foreign, false},
		"nothing to change":    {Side{Name: "base"}, foreign, true},
	} {
		if err := test.side.Supported(test.of); (err == nil) != test.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Head is not tried if it changes nothing. If it does not start, its logs stay.
func TestPairTriesHead(t *testing.T) {
	out := t.TempDir()
	p := Pair{
		Scenario: &scenario.Scenario{Name: "story", Spec: scenario.Spec{Subjects: []scenario.Subject{{Name: "ours", Controller: scenario.Bundled}}}},
		Sides:    [2]Side{{Name: "base"}, {Name: "head", Subject: scenario.Subject{Controller: "other"}, Driver: unable{}}}, Runs: 1, Out: out, Say: io.Discard,
	}
	outcome, err := p.Do(t.Context())
	if outcome != judge.NotRun || !errors.Is(err, errUnable) || !strings.HasPrefix(err.Error(), "--head: it does not start (logs in ") {
		t.Errorf("got %s, %v", outcome, err)
	}
	if _, err := os.Stat(filepath.Join(out, "try", "ours")); err != nil {
		t.Error(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	if outcome, err := p.Do(ctx); outcome != judge.Interrupted || err == nil {
		t.Errorf("interrupted: %s, %v", outcome, err)
	}
	p.Sides[1].Subject = scenario.Subject{}
	var told strings.Builder
	p.Say = &told
	if outcome, err := p.Do(ctx); outcome != judge.Interrupted || err == nil || !strings.HasSuffix(told.String(), "interrupted; no run was finished\n") {
		t.Errorf("interrupted in the first run: %s, %v, %q", outcome, err, told.String())
	}
	if outcome, err := p.Do(t.Context()); outcome != judge.NotRun || err == nil || strings.HasPrefix(err.Error(), "--head") {
		t.Errorf("head was tried although it changes nothing: %s, %v", outcome, err)
	}
}

// unable is a driver that cannot prepare any run.
type unable struct{}

var errUnable = errors.New("the image is missing")

func (unable) Name() string { return "unable" }

func (unable) Prepare(context.Context, subject.Subject, driver.Options) (driver.Instance, error) {
	return nil, errUnable
}
