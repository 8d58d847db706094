package trial_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/trial"
)

// broken is a driver that cannot kill workers, and whose Prepare fails after it wrote some
// events, as if a run had been cut short there.
type broken struct {
	writes []event.Event
	err    error
	hook   func()
}

func (broken) Name() string { return "broken" }

var _ driver.FaultLimiter = broken{}

func (broken) UnsupportedFault(fault string) string {
	if fault == "worker-kill" {
		return "there are no workers"
	}
	return ""
}

func (b broken) Prepare(_ context.Context, _ subject.Subject, in driver.Options) (driver.Instance, error) {
	for _, e := range b.writes {
		in.Log.Write(e)
	}
	if b.hook != nil {
		b.hook()
	}
	return nil, b.err
}

// story is a scenario with a control, as a file.
func story(t *testing.T) *scenario.Scenario {
	t.Helper()
	file := filepath.Join(t.TempDir(), "story.yaml")
	if err := os.WriteFile(file, []byte(`
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 1}
  timeline:
  - {at: 0s, churn: touch, rate: 1/s, for: 1s}
  expect: [changes.unconverged == 0]
  control:
    what: a worker is killed
    timeline: [{at: 0s, fault: worker-kill}]
    fails: [changes.unconverged == 0]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(file, scenario.Known{Faults: map[string]bool{"worker-kill": false}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// A trial that the driver does not support is skipped, even if only the control needs the feature
// or only the run reveals it.
func TestSkipped(t *testing.T) {
	nowhere := broken{err: fmt.Errorf("looking for a place: %w: there is none", fault.ErrNotHere)}
	for control, why := range map[bool]string{false: "there is none", true: "there are no workers"} {
		ended := trial.Do(t.Context(), trial.Trial{Scenario: story(t), Control: control, Driver: nowhere, Dir: filepath.Join(t.TempDir(), "run")})
		if ended.Outcome != judge.Skipped || !strings.HasSuffix(ended.Note(), why) {
			t.Errorf("control %t: %s, %s", control, ended.Outcome, ended.Note())
		}
	}
}

// The outcome of a run that is cut short depends on its progress and on the reason.
func TestCutShort(t *testing.T) {
	died := errors.New("the controller died")
	round := event.Event{At: time.Millisecond, Subject: "bundled", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}}
	for name, test := range map[string]struct {
		started, interrupted, whole bool
		want                        judge.Outcome
		measured                    bool
	}{
		"before its first round":              {false, false, false, judge.NotRun, false},
		"the subject died":                    {true, false, false, judge.Failed, true},
		"interrupted":                         {true, true, false, judge.Interrupted, true},
		"interrupted before its first round":  {false, true, false, judge.Interrupted, true},
		"the subject died, for a comparison":  {true, false, true, judge.NotRun, false},
		"interrupted, and for a comparison":   {true, true, true, judge.NotRun, false},
		"not even begun, and for a comparion": {false, false, true, judge.NotRun, false},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			d := broken{err: died}
			if test.started {
				d.writes = []event.Event{round}
			}
			if test.interrupted {
				d.hook = interrupt
			}
			watched := 0
			ended := trial.Do(ctx, trial.Trial{
				Scenario: story(t), Driver: d, Dir: filepath.Join(t.TempDir(), "run"), DiscardIfCut: test.whole,
				Watch: func(*scenario.Scenario) (func(event.Event), func()) {
					return func(event.Event) { watched++ }, func() { watched += 100 }
				},
			})
			if ended.Outcome != test.want || !strings.Contains(ended.Note(), died.Error()) {
				t.Errorf("got %s, %q, want %s", ended.Outcome, ended.Note(), test.want)
			}
			if _, err := os.Stat(ended.Dir.File(rundir.Result)); (err == nil) != test.measured {
				t.Errorf("measured: %v, want %t", err, test.measured)
			}
			if _, err := os.Stat(string(ended.Dir)); errors.Is(err, fs.ErrNotExist) != (!test.started && !test.interrupted) {
				t.Errorf("the folder wrongly exists or is missing: %v", err)
			}
			if want := len(d.writes) + 101; watched != want { // with the event of the run, and the end
				t.Errorf("watched %d, want %d", watched, want)
			}
		})
	}
}

// A run that failed before its start leaves its folder to the next one: only files of others, and the
// logs of subjects, stay.
func TestNotStartedLeavesTheFolder(t *testing.T) {
	for _, left := range []string{"mine.txt", "bundled/controller.log"} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, left)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, left), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			ended := trial.Do(t.Context(), trial.Trial{Scenario: story(t), Driver: broken{err: errors.New("no room")}, Dir: dir})
			if ended.Outcome != judge.NotRun || ended.Note() != "preparing subject bundled: no room" {
				t.Fatalf("%s: %s", ended.Outcome, ended.Note())
			}
		}
		if _, err := os.Stat(filepath.Join(dir, left)); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(filepath.Join(dir, rundir.Scenario)); (err == nil) != (left != "mine.txt") {
			t.Errorf("beside %s: the scenario: %v", left, err)
		}
	}
}

// A folder that already contains a run is not overwritten.
func TestNotRun(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, rundir.Events), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ended := trial.Do(t.Context(), trial.Trial{Scenario: story(t), Driver: broken{}, Dir: dir})
	if ended.Outcome != judge.NotRun || ended.Dir != "" || !strings.Contains(ended.Note(), "holds a run already") {
		t.Errorf("%s in %q, %q", ended.Outcome, ended.Dir, ended.Note())
	}
}

// logless is a driver under which the log fails. Its error names that cause.
type logless struct{ broken }

func (logless) Prepare(_ context.Context, _ subject.Subject, in driver.Options) (driver.Instance, error) {
	var failed error
	in.Log.OnFailure(func(err error) { failed = err })
	in.Log.Write(event.Event{Host: &event.Host{Busy: math.NaN()}}) // which JSON cannot express
	return nil, fmt.Errorf("the log cannot be written: %w", failed)
}

// The failure of the log is named once if the run ended because of it.
func TestFailedLogIsNamedOnce(t *testing.T) {
	ended := trial.Do(t.Context(), trial.Trial{Scenario: story(t), Driver: logless{}, Dir: filepath.Join(t.TempDir(), "run")})
	if got := ended.Note(); strings.Count(got, "NaN") != 1 || !strings.Contains(got, "the log cannot be written: ") {
		t.Errorf("note %q", got)
	}
}

// crowded is a driver without room.
type crowded struct {
	broken
	asked *backend.Need
}

func (c crowded) Room(need backend.Need) error {
	*c.asked = need
	return errors.New("2 + 2 = 4, and there are 3")
}

// A population without room is refused before anything starts, even if it is generated.
func TestNoRoom(t *testing.T) {
	s := story(t)
	s.Subjects = []scenario.Subject{{Name: "one"}, {Name: "other"}}
	s.Population.Services, s.Population.Pods, s.Population.Streams = 30, 4, true
	var asked backend.Need
	dir := filepath.Join(t.TempDir(), "run")
	ended := trial.Do(t.Context(), trial.Trial{Scenario: s, Driver: crowded{asked: &asked}, Dir: dir})
	if ended.Outcome != judge.NotRun || !strings.Contains(ended.Note(), "2 + 2 = 4") || !strings.Contains(ended.Note(), s.File) {
		t.Errorf("%s, %q", ended.Outcome, ended.Note())
	}
	if want := (backend.Need{Subjects: 2, Pods: 120, Sockets: 360}); asked != want {
		t.Errorf("asked for %+v, want %+v", asked, want)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder was created")
	}
}

// Each scenario gets a trial, and another one with its control.
func TestPlan(t *testing.T) {
	plain := &scenario.Scenario{Name: "plain", Spec: scenario.Spec{Seed: 3}}
	both := &scenario.Scenario{Name: "both", Spec: scenario.Spec{Seed: 4, Control: &scenario.Control{}}}
	for controls, want := range map[bool]string{
		true:  "[out/plain 3 false] [out/both 4 false] [out/both-control 4 true]",
		false: "[out/plain 3 false] [out/both 4 false]",
	} {
		var got []string
		trials, err := trial.Plan([]*scenario.Scenario{plain, both}, controls, "out", trial.Trial{Rewritten: true})
		if err != nil {
			t.Error(err)
		}
		for _, one := range trials {
			got = append(got, fmt.Sprint([]any{one.Dir, one.Seed, one.Control}))
			if !one.Rewritten {
				t.Error("the common settings are missing")
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("controls %t: %v, want %s", controls, got, want)
		}
	}
}

// No run is started if another one would have the same folder.
func TestPlanRefusesEqualNames(t *testing.T) {
	a := &scenario.Scenario{File: "a.yaml", Name: "same", Spec: scenario.Spec{Control: &scenario.Control{}}}
	b := &scenario.Scenario{File: "b.yaml", Name: "same"}
	c := &scenario.Scenario{File: "c.yaml", Name: "same-control"}
	for want, pair := range map[string][]*scenario.Scenario{"a.yaml and b.yaml": {a, b}, "a.yaml and c.yaml": {a, c}} {
		if _, err := trial.Plan(pair, true, "out", trial.Trial{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// After an interrupt, the remaining trials are not run.
func TestEachIsInterrupted(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	s := story(t)
	in := func(dir string, d driver.Driver) trial.Trial {
		return trial.Trial{Scenario: s, Dir: filepath.Join(t.TempDir(), dir), Driver: d}
	}
	trials := []trial.Trial{
		in("1", broken{err: errors.New("no room")}), in("2", broken{err: errors.New("cut"), hook: interrupt}), in("3", broken{}),
	}
	begun := 0
	ended, outcome := trial.Each(ctx, trials, func(int) { begun++ })
	if outcome != judge.Interrupted || len(ended) != 2 || begun != 2 || ended[0].Outcome != judge.NotRun {
		t.Errorf("%s after %d, begun %d: %+v", outcome, len(ended), begun, ended)
	}
}

// The changes of two runs are compared up to the end of the shorter one.
func TestSameChanges(t *testing.T) {
	a, b := event.Change{ID: 1, Object: "Service a"}, event.Change{ID: 2, Object: "Service b"}
	for _, test := range []struct {
		before, now []event.Change
		compared    int
		want        string
	}{
		{nil, nil, 0, ""},
		{nil, []event.Change{a, b}, 0, ""},
		{[]event.Change{a, b}, []event.Change{a}, 1, ""},
		{[]event.Change{a}, []event.Change{a, b}, 1, ""},
		{[]event.Change{a, b}, []event.Change{a, b}, 2, ""},
		{[]event.Change{a, b}, []event.Change{a, a}, 1, "change 2 was of Service b, and is 1 of Service a"},
	} {
		compared, err := trial.SameChanges(test.before, test.now)
		if (err == nil) != (test.want == "") || err != nil && err.Error() != test.want {
			t.Errorf("error %v, want %q", err, test.want)
		}
		if compared != test.compared {
			t.Errorf("%v and %v: compared %d, want %d", test.before, test.now, compared, test.compared)
		}
	}
}

func TestOfLength(t *testing.T) {
	hour := &scenario.Scenario{Name: "story", Spec: scenario.Spec{Timeline: []scenario.Step{{Churn: scenario.Touch, Rate: 1000, For: time.Hour}}}}
	with := func(steps ...scenario.Step) *scenario.Scenario {
		return &scenario.Scenario{Name: "story", Spec: scenario.Spec{Timeline: steps}}
	}
	rare := with(scenario.Step{Churn: scenario.Touch, Rate: 1, For: time.Minute}, scenario.Step{Churn: scenario.NewHosts, Rate: 1. / 60, For: time.Minute, Line: 9})
	pods := with(scenario.Step{Churn: scenario.ScaleOut, Rate: 10, For: time.Minute, Pods: 200})
	paths := with(scenario.Step{Churn: scenario.NewHosts, Rate: 1, For: time.Minute, Paths: 10_000})
	fault := with(scenario.Step{Churn: scenario.Touch, Rate: 1, For: time.Second}, scenario.Step{Fault: "api-5xx", For: time.Hour})
	busy := with(scenario.Step{Churn: scenario.Touch, Rate: 1, For: time.Minute})
	busy.Traffic = []scenario.Traffic{{Lane: "http", Rate: 10_000}}
	recorded := with(scenario.Step{Churn: scenario.Touch, Rate: 1, For: time.Minute}, scenario.Step{Churn: scenario.Recorded, For: time.Minute, Line: 9})
	for _, test := range []struct {
		of     *scenario.Scenario
		length time.Duration
		wrong  string
	}{
		{recorded, 30 * time.Second, "story replays a recording (line 9), whose changes keep their times; to replay only its beginning, shorten for: there"},
		{recorded, time.Hour, "story replays a recording (line 9)"},
		{recorded, 0, ""},
		{rare, 30 * time.Second, ""},
		{rare, 20 * time.Second, "it makes the step of line 9 a churn without a change: 0.0167/s for 20s; raise its rate, or make it last for 30s or longer"},
		{pods, time.Hour, "200 pods with each change"},
		{paths, time.Hour, "10000 paths of each new host"},
		{fault, time.Hour, "31 days"},
		{busy, 10 * time.Hour, "3.6e+08 requests of lane http"},
		{hour, 0, ""},
		{hour, time.Minute, ""},
		{hour, -1, "want more than 0"},
		{hour, scenario.LongestTime + 1, "31 days"},
		{hour, scenario.LongestTime, "it makes"},
		{&scenario.Scenario{Name: "story"}, time.Minute, "the timeline of story has no length"},
	} {
		got, err := trial.OfLength(test.of, test.length)
		if (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%v: %v, want %q", test.length, err, test.wrong)
		}
		if want := test.length; err == nil && want != 0 && got.Length() != want {
			t.Errorf("length %v, want %v", got.Length(), want)
		}
	}
}

// writeRecording writes a recording of a population that lasts for 2.5 seconds.
func writeRecording(t *testing.T, name string, population corpus.Population) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), name)
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	recording := churn.Recording{Population: population, Stream: churn.Stream{Length: 2500 * time.Millisecond}}
	if err := errors.Join(churn.Write(file, recording), file.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// A recording becomes a scenario that can be loaded, whatever its name, with the recording next to it.
func TestWriteRecorded(t *testing.T) {
	for base, name := range map[string]string{"shop.jsonl": "shop", "Ünder score: \"x\".jsonl": "nder-score-x", "Ü": "recording", "events.jsonl": "events", "scenario.yaml": "scenario"} {
		path := writeRecording(t, base, corpus.Generate(corpus.Shape{Services: 1, Pods: 1, Ingresses: 1}))
		dir := t.TempDir()
		written, err := trial.WriteRecorded(dir, path, 7*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Load(written, scenario.Known{Lanes: []string{"http", "post"}})
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != name || s.Population.Recording != "recording.jsonl" || s.Length() != 3*time.Second || *s.Timeline[0].Drain != 7*time.Second {
			t.Errorf("%s: got %+v", base, s)
		}
		for _, expected := range s.Expect {
			if expected.Expression == "changes.unconverged == 0" {
				t.Error("it expects changes to converge, and has none")
			}
		}
		if _, err := os.Stat(filepath.Join(dir, s.Population.Recording)); err != nil {
			t.Error(err)
		}
	}
}

// A shell's <(…) can be read only once.
func TestWriteRecordedFromAPipe(t *testing.T) {
	recording, err := os.ReadFile(writeRecording(t, "shop.jsonl", corpus.Generate(corpus.Shape{Services: 1, Pods: 1, Ingresses: 1})))
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := writer.Write(recording); err != nil {
		t.Fatal(err)
	}
	writer.Close()
	dir, pipe := t.TempDir(), fmt.Sprintf("/dev/fd/%d", reader.Fd())
	if _, err := trial.WriteRecorded(dir, pipe, time.Second); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "recording.jsonl")); err != nil || string(kept) != string(recording) {
		t.Errorf("kept %q, %v", kept, err)
	}
}

// The error for a recording that cannot be replayed names its file.
func TestWriteRecordedRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "shop.jsonl")
	if _, err := trial.WriteRecorded(t.TempDir(), missing, time.Second); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a recording: %v", err)
	}
	for _, population := range []corpus.Population{{}, {Services: corpus.Generate(corpus.Shape{Services: 1}).Services}} {
		path := writeRecording(t, "empty.jsonl", population)
		if _, err := trial.WriteRecorded(t.TempDir(), path, time.Second); err == nil || !strings.Contains(err.Error(), path+": it has no service, or no host for requests") {
			t.Errorf("%+v: %v", population, err)
		}
	}
}
