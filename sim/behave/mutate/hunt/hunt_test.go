package hunt

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

// newHunt returns a hunt over a template with three lines. Case all reaches each of them, and the
// others one or two.
func newHunt(t *testing.T) *hunt {
	t.Helper()
	h := &hunt{
		Options: Options{
			Template: map[string]string{"a.tmpl": "gzip on;\ncors on;\nauth on;"},
			Excused:  func(mutate.Mutant) bool { return false },
			Log:      t.Logf,
		},
		results: map[string]mutate.Result{}, kills: map[string]int{}, cases: map[string]*behave.Case{},
		reach: map[string][]string{"a.tmpl:1": {"gzip", "both"}, "a.tmpl:2": {"both", "cors"}, "a.tmpl:3": {"auth"}},
		able:  []string{"auth", "both", "cors", "gzip"},
	}
	texts := map[string]string{}
	for _, name := range h.able {
		texts[name] = name
		h.cases[name] = &behave.Case{Name: name}
	}
	h.ranker, h.marked = mutate.NewRanker(texts), mutate.Sites(h.Template)
	h.Mutants = slices.DeleteFunc(mutate.OfTemplate(h.Template), func(m mutate.Mutant) bool { return m.Now != "" })
	return h
}

// keepState gives a hunt a folder for its state until the end of the test.
func keepState(t *testing.T, h *hunt) {
	t.Helper()
	var err error
	if h.state, err = openState(t.TempDir()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.state.close)
}

func names(mutants []mutate.Mutant) (all []string) {
	for _, m := range mutants {
		all = append(all, m.Position())
	}
	return all
}

// The mutants of a lot share no cases.
func TestLotsKeepMutantsApart(t *testing.T) {
	h := newHunt(t)
	l, rest := h.lot(h.Mutants)
	if diff := cmp.Diff([]string{"a.tmpl:1", "a.tmpl:3"}, names(l.mutants)); diff != "" {
		t.Errorf("the first lot (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"gzip", "both", "auth"}, l.all()); diff != "" {
		t.Errorf("its cases (-want +got):\n%s", diff)
	}
	if l, rest = h.lot(rest); len(l.mutants) != 1 || len(rest) != 0 {
		t.Errorf("the second lot has %v; left %v", names(l.mutants), names(rest))
	}
	h.cases["auth"].Flags = map[string]string{"watch-namespace": "a"} // another controller
	if l, _ = h.lot(h.Mutants); len(l.mutants) != 1 {
		t.Errorf("a lot of cases with different flags: %v", names(l.mutants))
	}
}

// A case that killed a mutant of a line nearby comes early, whatever its text.
func TestKillersOfNeighboursComeEarly(t *testing.T) {
	h := newHunt(t)
	cases := h.able
	h.able = append(slices.Clone(cases), "a", "b", "c", "d", "e") // which do not execute the line
	h.note(mutate.Result{Mutant: h.Mutants[1], Outcome: mutate.Killed, By: []string{"both"}})
	if order := h.order(h.Mutants[0], cases); order[0] != "gzip" || !slices.Contains(order, "both") || len(order) != 4 {
		t.Errorf("order %v", order)
	}
}

// A case that killed a mutant of the file that the line includes comes early as well.
func TestKillersOfAnIncludedFileComeFirst(t *testing.T) {
	h := newHunt(t)
	h.note(mutate.Result{Mutant: mutate.Mutant{File: "watch.tmpl", Line: 90}, Outcome: mutate.Killed, By: []string{"auth", "gone"}})
	includes := mutate.Mutant{File: "b.tmpl", Line: 1, Was: `{{- template "watch.tmpl" . }}`}
	if cases := h.nearest(includes, h.able, 3); !slices.Equal(cases, []string{"auth"}) {
		t.Errorf("near an include of watch.tmpl: %v", cases)
	}
	// A mutant that many cases noticed says little.
	h.note(mutate.Result{Mutant: mutate.Mutant{File: "watch.tmpl", Line: 1}, Outcome: mutate.Killed, By: []string{"both", "cors", "gzip", "gone"}})
	h.note(mutate.Result{Mutant: mutate.Mutant{File: "watch.tmpl", Line: 2}, Outcome: mutate.Killed, By: []string{"gzip"}})
	if cases := h.nearest(includes, h.able, 3); !slices.Equal(cases, []string{"auth", "gzip", "both"}) {
		t.Errorf("near an include of watch.tmpl: %v, want the selective ones first", cases)
	}
	includes.Was = `{{ template "other.tmpl" . }}`
	if cases := h.nearest(includes, h.able, 3); len(cases) > 0 {
		t.Errorf("near an include of other.tmpl: %v", cases)
	}
}

func TestMutantsOfOneLineAreTriedApart(t *testing.T) {
	mutants := mutate.OfTemplate(map[string]string{"a.tmpl": "gzip on;\ncors on;"})
	group, rest := oneALine(mutants)
	if len(mutants) != 4 || !slices.Equal(names(group), []string{"a.tmpl:1", "a.tmpl:2"}) || len(rest) != 2 {
		t.Errorf("group %v, rest %v", names(group), names(rest))
	}
}

func TestJudge(t *testing.T) {
	result := func(name string, outcome behave.Outcome, reason string) behave.Result {
		return behave.Result{Case: name, Outcome: outcome, Reason: reason, Failures: []behave.Failure{{Field: "status"}}}
	}
	passed := result("a", behave.Passed, "")
	for name, test := range map[string]struct {
		results []behave.Result
		outcome mutate.Outcome
		by      []string
		void    bool
	}{
		"all pass":              {[]behave.Result{passed, result("b", behave.Differs, ""), result("c", behave.Skipped, "")}, mutate.Survived, nil, false},
		"one fails":             {[]behave.Result{passed, result("b", behave.Failed, "")}, mutate.Killed, []string{"b"}, false},
		"one differs no longer": {[]behave.Result{result("b", behave.NoLonger, "")}, mutate.Killed, []string{"b"}, false},
		"nothing is served":     {[]behave.Result{result("b", behave.Void, "not within 15s")}, mutate.Killed, []string{"b"}, true},
		"nginx does not start":  {[]behave.Result{result("b", behave.Void, behave.NotStarted+": x")}, mutate.Stillborn, nil, false},
	} {
		if v := judge(test.results); v.outcome != test.outcome || !slices.Equal(v.by, test.by) || v.void != test.void {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// A baseline drops cases that have changed, and everything if the template has changed.
func TestBaselineForgetsWhatChanged(t *testing.T) {
	earlier := func() baseline {
		return baseline{Files: "t", Cases: map[string]string{"a": "1", "b": "1", "c": "1"}, Passed: []string{"a", "b", "c"}, Reach: map[string][]string{"x:1": {"a", "b"}}}
	}
	got := earlier().of("t", map[string]string{"a": "1", "b": "2"})
	want := baseline{Files: "t", Cases: map[string]string{"a": "1"}, Passed: []string{"a"}, Reach: map[string][]string{"x:1": {"a"}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := earlier().of("other", map[string]string{"a": "1"}); len(got.Cases)+len(got.Passed)+len(got.Reach) != 0 {
		t.Errorf("with another template: %+v", got)
	}
}

// The last line about a mutant is valid, and a line that was cut off is ignored.
func TestStateIsRead(t *testing.T) {
	h := newHunt(t)
	s, err := openState(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, outcome := range []mutate.Outcome{mutate.Survived, mutate.Killed} {
		s.keep(mutate.Result{Mutant: h.Mutants[0], Outcome: outcome})
	}
	if _, err := s.file.WriteString(`{"name":"x`); err != nil {
		t.Fatal(err)
	}
	if found := s.results(); len(found) != 1 || found[h.Mutants[0].Name].Outcome != mutate.Killed {
		t.Errorf("results %+v", found)
	}
	s.close()
	if s, err = openState(s.dir); err != nil {
		t.Fatal(err)
	}
	s.keep(mutate.Result{Mutant: h.Mutants[1], Outcome: mutate.Survived})
	before := s.results()
	gone := h.Mutants[1]
	gone.Name = "template/a.tmpl:9/delete"
	s.keep(mutate.Result{Mutant: gone, Outcome: mutate.Killed})
	s.compact(h.Mutants)
	if s.close(); s.err() != nil {
		t.Error(s.err())
	}
	if diff := cmp.Diff(before, s.results()); diff != "" || len(before) != 2 {
		t.Errorf("compact changes the results (-before +after):\n%s", diff)
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, resultsFile)); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("compact leaves %q, %v", text, err)
	}
}

// A mutant that survived cases that do not reach it, or fewer than are run first, is tried again.
func TestSurvivorsOfOtherCasesAreForgotten(t *testing.T) {
	h := newHunt(t)
	h.Log = t.Logf
	keepState(t, h)
	h.state.keep(mutate.Result{Mutant: h.Mutants[0], Outcome: mutate.Survived, Reached: 3, Ran: 2}) // two cases reach it
	h.state.keep(mutate.Result{Mutant: h.Mutants[1], Outcome: mutate.Survived, Reached: 1, Ran: 1})
	h.state.keep(mutate.Result{Mutant: h.Mutants[2], Outcome: mutate.Killed, By: []string{"auth"}, Reached: 3, Ran: 2})
	if known := h.recall(); known != 1 {
		t.Errorf("%d results are recalled, want 1", known)
	}
	for i, why := range []string{"of other cases", "of one of two cases"} {
		if _, ok := h.result(h.Mutants[i]); ok {
			t.Errorf("a survivor %s is recalled", why)
		}
	}
}

// Again retries survivors, except for those that ran all their cases and have a reason.
func TestSurvivorsAreTriedAgain(t *testing.T) {
	h := newHunt(t)
	keepState(t, h)
	for _, name := range []string{"gzip", "both"} { // more cases than run first
		for i := range firstTries {
			copied := name + strconv.Itoa(i)
			h.reach["a.tmpl:1"] = append(h.reach["a.tmpl:1"], copied)
		}
	}
	h.state.keep(mutate.Result{Mutant: h.Mutants[0], Outcome: mutate.Survived, Reached: 34, Ran: firstTries})
	h.state.keep(mutate.Result{Mutant: h.Mutants[1], Outcome: mutate.Survived, Reached: 2, Ran: 2})
	h.state.keep(mutate.Result{Mutant: h.Mutants[2], Outcome: mutate.Survived, Reached: 1, Ran: 1})
	h.Excused = func(m mutate.Mutant) bool { return m.Position() != "a.tmpl:2" }
	if known := h.recall(); known != 3 {
		t.Errorf("%d results are recalled, want all 3", known)
	}
	h.results, h.Again = map[string]mutate.Result{}, true
	h.recall()
	for i, want := range []bool{false, false, true} { // undecided; without a reason; with a reason
		if _, ok := h.result(h.Mutants[i]); ok != want {
			t.Errorf("%s is recalled: %v", h.Mutants[i].Position(), ok)
		}
	}
}

// Code that runs under each case is best noticed by the cases that use the rest of its file.
func TestCasesThatUseAFileComeEarly(t *testing.T) {
	h := newHunt(t)
	h.reach = map[string][]string{"hash.lua:1": h.able, "hash.lua:2": {"cors"}, "other.lua:1": {"gzip"}}
	if users := h.usersOf("hash.lua", h.able, 3); !slices.Equal(users, []string{"cors"}) {
		t.Errorf("the cases that use hash.lua: %v", users)
	}
	h.traced = true
	first := mutate.Mutant{Kind: mutate.Lua, File: "hash.lua", Line: 1, Was: "sync()"}
	if order := h.order(first, h.able); order[0] != "cors" || len(order) != len(h.able) {
		t.Errorf("order %v", order)
	}
}

// Two hunts in one folder would overwrite each other's state.
func TestStateHasOneHunt(t *testing.T) {
	dir := t.TempDir()
	first, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openState(dir); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("the second hunt: %v", err)
	}
	first.close()
	again, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	again.close()
}

// Reasons name files of a mutant without the folders of this machine, so that results can be published.
func TestReasonsNameNoFolderOfThisMachine(t *testing.T) {
	t.Chdir(t.TempDir())
	const dir = "hunt" // as the user names it, in some messages; in others, its absolute path
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	absolute, err := filepath.Abs(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.keep(mutate.Result{Mutant: mutate.Mutant{Name: "m"}, Outcome: mutate.Stillborn,
		Why: filepath.Join(absolute, tryFolder, "run-12/nginx-template/a.tmpl") + ":3: in " + filepath.Join(os.TempDir(), "windtunnel-tmp-run-subject-7/etc/nginx/lua/cfg.json") +
			"; see " + filepath.Join(dir, tryFolder, "run-12/run/nginx.conf")})
	if got, want := s.results()["m"].Why, "nginx-template/a.tmpl:3: in etc/nginx/lua/cfg.json; see run/nginx.conf"; got != want || s.err() != nil {
		t.Errorf("the reason is %q, %v; want %q", got, s.err(), want)
	}
}

// A setting that more cases set now is tried again, and with Again any setting that survived.
func TestSettingsAreTriedAgain(t *testing.T) {
	h := newHunt(t)
	keepState(t, h)
	ignored := func(name string) mutate.Mutant {
		return mutate.Mutant{Name: "config/" + name + "/ignore", Kind: mutate.Config, Was: name}
	}
	h.Mutants = []mutate.Mutant{ignored("use-gzip"), ignored("hsts")}
	h.cases["gzip"].Config = map[string]string{"use-gzip": "true"}
	h.cases["both"].Config = map[string]string{"use-gzip": "true", "hsts": "true"}
	for _, m := range h.Mutants {
		h.state.keep(mutate.Result{Mutant: m, Outcome: mutate.Survived, Reached: 1, Ran: 1})
	}
	h.recall()
	for i, want := range []bool{false, true} { // another case sets use-gzip; hsts is as before
		if _, ok := h.result(h.Mutants[i]); ok != want {
			t.Errorf("%s is recalled: %v", h.Mutants[i].Name, ok)
		}
	}
	h.results, h.Again = map[string]mutate.Result{}, true
	if known := h.recall(); known != 0 {
		t.Errorf("%d results are recalled to be tried again, want none", known)
	}
}

// A mutant that was killed only by cases that do not pass any more is tried again.
func TestKilledByCasesThatAreGone(t *testing.T) {
	h := newHunt(t)
	keepState(t, h)
	h.state.keep(mutate.Result{Mutant: h.Mutants[0], Outcome: mutate.Killed, By: []string{"gone"}, Reached: 2, Ran: 2})
	h.state.keep(mutate.Result{Mutant: h.Mutants[1], Outcome: mutate.Killed, By: []string{"gone", "both"}, Reached: 2, Ran: 2})
	h.recall()
	for i, want := range []bool{false, true} {
		if _, ok := h.result(h.Mutants[i]); ok != want {
			t.Errorf("%s is recalled: %v", h.Mutants[i].Position(), ok)
		}
	}
}

// tryLot tries the first lot of newHunt; run returns the verdict of each run.
func tryLot(t *testing.T, h *hunt, run func(mutants, cases []string) verdict) map[string]mutate.Outcome {
	t.Helper()
	keepState(t, h)
	h.runs = func(_ context.Context, mutants []mutate.Mutant, cases []string, _ time.Duration, _ int) (verdict, error) {
		return run(names(mutants), cases), nil
	}
	l, _ := h.lot(h.Mutants)
	if err := h.tryLot(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]mutate.Outcome{}
	for _, m := range l.mutants {
		r, _ := h.result(m)
		outcomes[m.Position()] = r.Outcome
	}
	return outcomes
}

// If cases of a lot are repeated because nothing was served for one of them, the other mutants keep
// the cases that killed them.
func TestRepeatedCasesDecideAboutTheirMutantsOnly(t *testing.T) {
	first := true
	got := tryLot(t, newHunt(t), func(_, cases []string) verdict {
		v := fails(mutate.Killed, cases, "both", "auth")
		if first {
			v = fails(mutate.Killed, cases, "gzip", "both", "auth")
			v.void, first = true, false
		}
		return v
	})
	if diff := cmp.Diff(map[string]mutate.Outcome{"a.tmpl:1": mutate.Killed, "a.tmpl:3": mutate.Killed}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A failure that depends on time is repeated if it is the only one under its mutant, whatever fails
// under the other mutants of the lot.
func TestHastyCasesOfALotAreRepeated(t *testing.T) {
	h := newHunt(t)
	h.cases["gzip"].Steps = []behave.Step{{Request: behave.Request{Timeout: time.Second}}}
	first := true
	got := tryLot(t, h, func(_, cases []string) verdict {
		v := fails(mutate.Killed, cases, "auth")
		if first {
			v = fails(mutate.Killed, cases, "gzip", "auth")
			first = false
		}
		return v
	})
	if diff := cmp.Diff(map[string]mutate.Outcome{"a.tmpl:1": mutate.Survived, "a.tmpl:3": mutate.Killed}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// All idle cases run with a mutant, even after some of them have killed it.
func TestIdleCasesRunToTheLast(t *testing.T) {
	h := newHunt(t)
	h.WakeIdle = true
	keepState(t, h)
	h.reach["a.tmpl:1"] = h.able
	h.settle(mutate.Result{Mutant: h.Mutants[0], Outcome: mutate.Killed, By: []string{"elsewhere"}, Reached: 4, Ran: 4})
	h.runs = func(_ context.Context, _ []mutate.Mutant, cases []string, _ time.Duration, enough int) (verdict, error) {
		if enough > 0 {
			cases = cases[:min(enough, len(cases))]
		}
		return fails(mutate.Killed, cases, cases...), nil
	}
	if err := h.wakeIdle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if idle := h.outcome().Idle; len(idle) > 0 {
		t.Errorf("%v stay idle", idle)
	}
}

// An error ends the other runs.
func TestAnErrorEndsTheHunt(t *testing.T) {
	h := newHunt(t)
	h.Workers = 2
	keepState(t, h)
	full := errors.New("no space left on device")
	other := make(chan struct{})
	h.runs = func(ctx context.Context, mutants []mutate.Mutant, _ []string, _ time.Duration, _ int) (verdict, error) {
		if mutants[0].Name == h.Mutants[0].Name {
			<-other
			return verdict{}, full
		}
		close(other)
		select {
		case <-ctx.Done():
		case <-time.After(10 * time.Second):
			t.Error("the other run continues")
		}
		return verdict{}, ctx.Err()
	}
	if err := h.tryLines(t.Context()); !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
}
