package history_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func commit(hash string, minute int) gitrepo.Commit {
	return gitrepo.Commit{Hash: strings.Repeat(hash, 40/len(hash)), Time: noon.Add(time.Duration(minute) * time.Minute), Subject: "change " + hash}
}

// result returns a result of two subjects.
func result() measure.Result {
	return measure.Result{
		Schema: measure.Schema,
		Run: event.Run{
			Scenario: "storm", Seed: 7, Driver: "local", Start: noon,
			Environment: map[string]string{"cpu": "Some CPU", "processors": "2", "nginx": "1.22.1", "kernel": "6.1", "go": "go1.26"},
		},
		Subjects: []measure.Subject{
			{Name: "fork-2", Valid: true, Reloads: 3, CPU: measure.CPU{Nginx: 1500 * time.Millisecond}},
			{Name: "void", Invalid: []string{"the host was starved"}},
		},
	}
}

// makeRun writes the folder of a run.
func makeRun(t *testing.T, r measure.Result, scenario string) rundir.Dir {
	t.Helper()
	dir := rundir.Dir(t.TempDir())
	var text bytes.Buffer
	if err := report.JSON(&text, r, nil); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{rundir.Result: text.String(), rundir.Scenario: scenario, rundir.Page: "<html>", rundir.Events: "{}"} {
		if content == "" {
			continue
		}
		if err := os.WriteFile(dir.File(name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const storm = "metadata: {name: storm}\nspec: {subjects: [{name: fork-2, controller: /tmp/1}], traffic: [{lane: http, rate: 10/s}]}\n"

func add(t *testing.T, s history.Store, run rundir.Dir, o history.Options) string {
	t.Helper()
	folder, err := s.Add(run, o)
	if err != nil {
		t.Fatal(err)
	}
	return folder
}

func runs(t *testing.T, s history.Store) []history.Run {
	t.Helper()
	all, err := s.Runs()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A kept run is read back with its figures, commit, setup and environment. Its events are not kept.
func TestAdd(t *testing.T) {
	store := history.Store(filepath.Join(t.TempDir(), "history[1]")) // not to be read as a pattern
	folder := add(t, store, makeRun(t, result(), storm), history.Options{Commit: commit("a", 0), Setup: map[string]string{"runner": "big"}})
	all := runs(t, store)
	if len(all) != 1 {
		t.Fatalf("read %d runs", len(all))
	}
	run := all[0]
	if run.Folder != folder || run.Scenario != "storm" || !run.Start.Equal(noon) || run.Commit != commit("a", 0) || run.Report != "" {
		t.Errorf("read %+v", run)
	}
	if digest := run.Setup["scenario"]; len(digest) != 12 {
		t.Errorf("the digest of the scenario is %q", digest)
	}
	delete(run.Setup, "scenario")
	if want := map[string]string{"cpu": "Some CPU", "processors": "2", "nginx": "1.22.1", "driver": "local", "seed": "7", "runner": "big"}; !maps.Equal(run.Setup, want) {
		t.Errorf("setup %v, want %v", run.Setup, want)
	}
	if want := map[string]string{"kernel": "6.1", "go": "go1.26"}; !maps.Equal(run.Environment, want) {
		t.Errorf("environment %v, want %v", run.Environment, want)
	}
	if figures := run.Figures["fork-2"]; len(run.Figures) != 1 || figures["reloads"] != 3 || figures["cpu.nginx"] != 1.5 {
		t.Errorf("figures %v", run.Figures)
	}
	files, err := os.ReadDir(filepath.Join(string(store), folder))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range files {
		names = append(names, f.Name())
	}
	if want := []string{rundir.Bench, history.EntryFile, rundir.Result}; !slices.Equal(names, want) {
		t.Errorf("kept %v, want %v", names, want)
	}
}

func TestReports(t *testing.T) {
	store := history.Store(t.TempDir())
	folder := add(t, store, makeRun(t, result(), storm), history.Options{Commit: commit("a", 0), KeepReport: true})
	add(t, store, makeRun(t, result(), storm), history.Options{Commit: commit("b", 1), ReportURL: "https://example.com/1"})
	all := runs(t, store)
	if all[0].Report != rundir.Page || all[1].Report != "https://example.com/1" {
		t.Errorf("reports %q and %q", all[0].Report, all[1].Report)
	}
	if text, err := os.ReadFile(filepath.Join(string(store), folder, rundir.Page)); err != nil || string(text) != "<html>" {
		t.Errorf("kept %q, %v", text, err)
	}
}

// Runs are in the order of their commits, even if an older commit is measured later.
func TestOrder(t *testing.T) {
	store := history.Store(t.TempDir())
	start := 0
	for _, c := range []gitrepo.Commit{commit("c", 2), commit("a", 1), commit("b", 1), commit("c", 2), commit("0", 0)} {
		r := result()
		start++
		r.Run.Start = noon.Add(time.Duration(start) * time.Hour)
		add(t, store, makeRun(t, r, storm), history.Options{Commit: c})
	}
	var order []string
	for _, r := range runs(t, store) {
		order = append(order, r.Commit.Hash[:1]+" "+r.Start.Format("15"))
	}
	if want := []string{"0 17", "a 14", "b 15", "c 13", "c 16"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
}

func TestNewest(t *testing.T) {
	var all []history.Run
	for _, hash := range "aabbbc" {
		all = append(all, history.Run{Entry: history.Entry{Commit: commit(string(hash), 0)}})
	}
	for n, want := range []int{6, 1, 4, 6, 6} {
		if got := len(history.Newest(all, n)); got != want {
			t.Errorf("the newest %d commits have %d runs, want %d", n, got, want)
		}
	}
	if got := history.Newest(nil, 3); len(got) != 0 {
		t.Errorf("no runs: %v", got)
	}
}

func TestNotKept(t *testing.T) {
	store := history.Store(t.TempDir())
	run := makeRun(t, result(), storm)
	o := history.Options{Commit: commit("a", 0)}
	add(t, store, run, o)
	if _, err := store.Add(run, o); !errors.As(err, new(history.KeptError)) {
		t.Errorf("the same run again: %v", err)
	}
	void := result()
	void.Subjects = void.Subjects[1:]
	if _, err := store.Add(makeRun(t, void, storm), o); !errors.As(err, new(history.VoidError)) || !strings.Contains(err.Error(), "the host was starved") {
		t.Errorf("a void run: %v", err)
	}
	void.Subjects[0].Invalid = nil
	if _, err := store.Add(makeRun(t, void, storm), o); !errors.As(err, new(history.VoidError)) {
		t.Errorf("a void run without a reason: %v", err)
	}
	hostile := result()
	hostile.Run.Scenario = "../../escape"
	if _, err := store.Add(makeRun(t, hostile, storm), o); err == nil || !strings.Contains(err.Error(), "escape") {
		t.Errorf("a scenario whose name is a path: %v", err)
	}
	if _, err := store.Add(run, history.Options{Commit: commit("a", 0), Setup: map[string]string{"nginx": "1"}}); err == nil || !strings.Contains(err.Error(), "nginx is: 1.22.1") {
		t.Errorf("another nginx than the run's: %v", err)
	}
	if got := runs(t, store); len(got) != 1 {
		t.Errorf("%d runs are kept", len(got))
	}
	if left, err := filepath.Glob(filepath.Join(string(store), "*", ".*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// Scenarios have the same digest if they differ only in fields that do not affect measurements.
func TestSetup(t *testing.T) {
	store := history.Store(t.TempDir())
	id := func(r measure.Result, scenario string) string {
		t.Helper()
		folder := add(t, store, makeRun(t, r, scenario), history.Options{Commit: commit("a", len(runsIn(store)))})
		for _, run := range runs(t, store) {
			if run.Folder == folder {
				return run.SetupID()
			}
		}
		t.Fatal("the run is missing")
		return ""
	}
	later := func(change func(*measure.Result)) measure.Result {
		r := result()
		r.Run.Start = noon.Add(time.Duration(len(runsIn(store))) * time.Hour)
		change(&r)
		return r
	}
	nothing := func(*measure.Result) {}
	first := id(result(), storm)
	for name, test := range map[string]struct {
		change   func(*measure.Result)
		scenario string
		same     bool
	}{
		"comment":      {nothing, "# comment\n" + storm, true},
		"binary":       {nothing, strings.Replace(storm, "/tmp/1", "/tmp/2", 1), true},
		"expectation":  {nothing, strings.Replace(storm, "spec: {", "spec: {expect: [reloads == 0], ", 1), true},
		"kernel":       {func(r *measure.Result) { r.Run.Environment["kernel"] = "6.2" }, storm, true},
		"traffic":      {nothing, strings.Replace(storm, "10/s", "20/s", 1), false},
		"seed":         {func(r *measure.Result) { r.Run.Seed = 8 }, storm, false},
		"cpu":          {func(r *measure.Result) { r.Run.Environment["cpu"] = "other" }, storm, false},
		"processors":   {func(r *measure.Result) { r.Run.Environment["processors"] = "4" }, storm, false},
		"nginx":        {func(r *measure.Result) { r.Run.Environment["nginx"] = "1.30.0" }, storm, false},
		"driver":       {func(r *measure.Result) { r.Run.Driver = "kind" }, storm, false},
		"no scenario":  {nothing, "", false},
		"unknown CPU ": {func(r *measure.Result) { delete(r.Run.Environment, "cpu") }, storm, false},
	} {
		if got := id(later(test.change), test.scenario); (got == first) != test.same {
			t.Errorf("%s: the setup is %s, the first one %s", name, got, first)
		}
	}
}

func runsIn(s history.Store) []history.Run {
	all, _ := s.Runs()
	return all
}

func TestBrokenHistories(t *testing.T) {
	for name, test := range map[string]struct {
		file, text, want string
	}{
		"schema": {history.EntryFile, `{"schema": "other"}`, `entry.json: the entry is of schema "other"`},
		"syntax": {history.EntryFile, `{`, "entry.json: unexpected end"},
		"commit": {history.EntryFile, `{"schema": "` + history.Schema + `"}`, "lacks the commit"},
		"report": {history.EntryFile, `{"schema": "` + history.Schema + `", "commit": {"hash": "a"}, "scenario": "s", "report": "../../x"}`, `report "../../x"`},
		"bench":  {rundir.Bench, "BenchmarkStorm 1 3 reloads\n", "names no subject"},
		"empty":  {rundir.Bench, "\n", "no line of a subject"},
	} {
		store := history.Store(t.TempDir())
		folder := add(t, store, makeRun(t, result(), storm), history.Options{Commit: commit("a", 0)})
		if err := os.WriteFile(filepath.Join(string(store), folder, test.file), []byte(test.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Runs(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	if _, err := history.Store(t.TempDir()).Runs(); err == nil || !strings.Contains(err.Error(), "is it a history?") {
		t.Errorf("an empty folder: %v", err)
	}
}

// Figures that a later version adds or removes do not disturb the others.
func TestUnknownUnits(t *testing.T) {
	store := history.Store(t.TempDir())
	folder := add(t, store, makeRun(t, result(), storm), history.Options{Commit: commit("a", 0)})
	const lines = "BenchmarkStorm/subject=fork-2 1 3 reloads 5 bananas\n"
	if err := os.WriteFile(filepath.Join(string(store), folder, rundir.Bench), []byte(lines), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := runs(t, store)[0].Figures; !maps.Equal(got["fork-2"], map[string]float64{"reloads": 3}) {
		t.Errorf("figures %v", got)
	}
}

func TestEntryIsReadable(t *testing.T) {
	store := history.Store(t.TempDir())
	folder := add(t, store, makeRun(t, result(), storm), history.Options{Commit: commit("a", 0)})
	text, err := os.ReadFile(filepath.Join(string(store), folder, history.EntryFile))
	if err != nil {
		t.Fatal(err)
	}
	var entry map[string]any
	if err := json.Unmarshal(text, &entry); err != nil || entry["schema"] != history.Schema {
		t.Errorf("%v:\n%s", err, text)
	}
}
