package rundir_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/sweep"
)

const text = `# A comment, which is kept.
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 1}
`

// story is a scenario that was read from a file.
func story(t *testing.T) *scenario.Scenario {
	t.Helper()
	file := filepath.Join(t.TempDir(), "story.yaml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(file, scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// logOf writes the log of a run into its folder.
func logOf(t *testing.T, d rundir.Dir, events ...event.Event) {
	t.Helper()
	file, err := os.Create(d.File(rundir.Events))
	if err != nil {
		t.Fatal(err)
	}
	log := event.NewLog(file, time.Now())
	for _, e := range events {
		log.Write(e)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

// The folder keeps the scenario's file, or the changed scenario.
func TestCreate(t *testing.T) {
	s := story(t)
	d, err := rundir.Create(filepath.Join(t.TempDir(), "a", "b"), s, false)
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(d.File(rundir.Scenario)); err != nil || string(kept) != text {
		t.Errorf("got %s, %v", kept, err)
	}
	s.Settle = 77 * time.Second
	if _, err := rundir.Create(string(d), s, true); err != nil {
		t.Errorf("a folder without a log: %v", err)
	}
	if kept, err := os.ReadFile(d.File(rundir.Scenario)); err != nil || !bytes.Contains(kept, []byte("1m17s")) {
		t.Errorf("got %s, %v", kept, err)
	}
	logOf(t, d)
	if _, err := rundir.Create(string(d), s, false); err == nil || !strings.Contains(err.Error(), "holds a run already") {
		t.Errorf("a folder with a log: %v", err)
	}
}

// Runs that begin in the same second get folders of their own.
func TestDefault(t *testing.T) {
	t.Chdir(t.TempDir())
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, want := range []string{"runs/small-20260102-030405", "runs/small-20260102-030405-2", "runs/small-20260102-030405-3"} {
		got, err := rundir.Default("small", now)
		if err != nil || got != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
		if info, err := os.Stat(got); err != nil || !info.IsDir() {
			t.Errorf("%s: %v", got, err)
		}
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("runs", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rundir.Default("small", now); err == nil {
		t.Error("made a folder below a file")
	}
}

func TestStarted(t *testing.T) {
	begin := event.Event{Subject: "a", Phase: &event.Phase{Name: event.RoundBegin}}
	for name, test := range map[string]struct {
		events []event.Event
		want   bool
	}{
		"empty":          {nil, false},
		"only prepared":  {[]event.Event{{Run: &event.Run{}}, {Subject: "a", Phase: &event.Phase{Name: event.Ready}}}, false},
		"a round began":  {[]event.Event{{Run: &event.Run{}}, begin}, true},
		"and was ended ": {[]event.Event{begin, {Phase: &event.Phase{Name: event.Cut}}}, true},
	} {
		d := rundir.Dir(t.TempDir())
		logOf(t, d, test.events...)
		if d.Started() != test.want {
			t.Errorf("%s: %t", name, !test.want)
		}
	}
	if rundir.Dir(t.TempDir()).Started() {
		t.Error("a folder without a log has started")
	}
}

// The changes are those of the first subject.
func TestChanges(t *testing.T) {
	d := rundir.Dir(t.TempDir())
	logOf(t, d, event.Event{Run: &event.Run{Seed: 9, Subjects: []string{"b", "a"}}},
		event.Event{Subject: "a", Change: &event.Change{ID: 1, Object: "x"}},
		event.Event{Subject: "b", Change: &event.Change{ID: 1, Object: "y"}})
	changes, seed, err := d.Changes(7)
	if err != nil || seed != 9 || len(changes) != 1 || changes[0].Object != "y" {
		t.Errorf("%+v of seed %d, %v", changes, seed, err)
	}
	if err := os.Truncate(d.File(rundir.Events), 0); err != nil {
		t.Fatal(err)
	}
	if changes, seed, err := d.Changes(7); err != nil || seed != 7 || len(changes) != 0 {
		t.Errorf("an empty log: %+v of seed %d, %v", changes, seed, err)
	}
}

// The measurements in memory equal those in the folder.
func TestMeasure(t *testing.T) {
	d := rundir.Dir(t.TempDir())
	var events []event.Event
	for e := range measuretest.Seq(measuretest.Log(1, 6*time.Second)) {
		events = append(events, e)
	}
	logOf(t, d, events...)
	s := &scenario.Scenario{Name: "story", Spec: scenario.Spec{Expect: []scenario.Expectation{{Expression: "reloads == 0"}}}}
	m, err := d.Measure(s)
	if err != nil {
		t.Fatal(err)
	}
	if outcome, note := m.Outcome(); outcome != judge.Failed {
		t.Errorf("got %s, %s", outcome, note)
	}
	for _, name := range []string{rundir.Result, rundir.Page, rundir.Markdown, rundir.JUnit, rundir.Bench} {
		if info, err := os.Stat(d.File(name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	read, err := rundir.Results(string(d))
	if err != nil || len(read) != 1 || fmt.Sprint(read[0]) != fmt.Sprint(m.Result) {
		t.Errorf("read back %+v, %v, want %+v", read, err, m.Result)
	}
}

// The error about an event log names its file.
func TestMeasureNamesTheLog(t *testing.T) {
	d := rundir.Dir(t.TempDir())
	if err := os.WriteFile(d.File(rundir.Events), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Measure(&scenario.Scenario{Name: "story"}); err == nil || !strings.HasPrefix(err.Error(), d.File(rundir.Events)+": ") {
		t.Error(err)
	}
}

// A folder contains one run, or folders of runs, which are read in the order of their starts.
func TestResults(t *testing.T) {
	out := t.TempDir()
	if _, err := rundir.Results(out); err == nil || !strings.Contains(err.Error(), "holds no result.json") {
		t.Errorf("an empty folder: %v", err)
	}
	file := filepath.Join(t.TempDir(), rundir.Result)
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := rundir.Results(file); err == nil || !strings.Contains(err.Error(), "is a file: name the folder of the run") {
		t.Errorf("a file: %v", err)
	}
	for i, second := range []int{7, 5, 6} {
		d := rundir.Dir(filepath.Join(out, fmt.Sprint(i)))
		if err := os.Mkdir(string(d), 0o755); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf(`{"schema": "windtunnel.dev/result/v1", "run": {"start": "2026-01-02T03:04:0%dZ"}}`, second)
		if err := os.WriteFile(d.File(rundir.Result), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	results, err := rundir.Results(out)
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for _, r := range results {
		order = append(order, r.Run.Start.Second())
	}
	if fmt.Sprint(order) != "[5 6 7]" {
		t.Errorf("order %v", order)
	}
	if one, err := rundir.Results(filepath.Join(out, "0")); err != nil || len(one) != 1 {
		t.Errorf("%d results, %v", len(one), err)
	}
}

// Results of other commands are left out, unless they are named.
func TestFindOthers(t *testing.T) {
	out := filepath.Join(t.TempDir(), "runs[1]") // no pattern
	write := func(name, schema string) string {
		d := rundir.Dir(filepath.Join(out, name))
		if err := os.MkdirAll(string(d), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(d.File(rundir.Result), []byte(fmt.Sprintf(`{"schema": %q}`, schema)), 0o644); err != nil {
			t.Fatal(err)
		}
		return string(d)
	}
	sweep, cases := write("a-sweep", sweep.Schema), write("cases", casereport.Schema)
	if _, err := rundir.Find(out); err == nil || err.Error() != "no folder in "+out+" is that of a run: the first is that of a sweep" {
		t.Errorf("without a run: %v", err)
	}
	run, older := write("run", measure.Schema), write("without-schema", "")
	dirs, err := rundir.Find(out)
	if want := []rundir.Dir{rundir.Dir(run), rundir.Dir(older)}; err != nil || fmt.Sprint(dirs) != fmt.Sprint(want) {
		t.Errorf("%v, %v, want %v", dirs, err, want)
	}
	for dir, what := range map[string]string{sweep: "a sweep", cases: "behaviour cases"} {
		if _, err := rundir.Find(dir); err == nil || !strings.Contains(err.Error(), "/result.json is the result of "+what+", not of a run: ") {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

func TestWriteTextNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "absent", "file.yaml")
	err := rundir.WriteText(path, nil)
	if want := "write " + path + ": no such file or directory"; err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// An error of WriteFile names the path, not the temporary file beside it, which is removed.
func TestWriteFileNamesThePath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "result.json")
	err := rundir.WriteFile(path, func(w io.Writer) error {
		w.(*os.File).Close()
		_, err := w.Write([]byte("text"))
		return err
	})
	if err == nil || !strings.HasPrefix(err.Error(), "write "+path+": ") {
		t.Errorf("error: %v", err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}

// A population's file with the name of a file of the run is refused, because it would be overwritten.
func TestCreateRefusesNamesOfItsFiles(t *testing.T) {
	s := story(t)
	s.Population.Recording = rundir.Events
	path := filepath.Join(t.TempDir(), "run")
	if _, err := rundir.Create(path, s, true); err == nil || !strings.Contains(err.Error(), "the population's file has the name of a file of the run, events.jsonl") {
		t.Errorf("error: %v", err)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the folder was made")
	}
}
