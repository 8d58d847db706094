// Package hunt runs behaviour cases under mutants, to find the mutants that no case notices, and
// the cases that notice no mutant. Its one rule: a mutant is judged by cases that pass without it.
package hunt

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
	caserun "windtunnel.dev/sim/behave/run"
)

// Options say which mutants to try with which cases.
type Options struct {
	// Run are the options of a run of cases. Its Cases are those that may notice mutants; its Dir
	// is the folder for the state of the hunt.
	Run caserun.Options
	// Texts are the texts of the case files, by the names of the cases.
	Texts map[string]string
	// Template and Lua are the files that mutants change, by name.
	Template, Lua map[string]string
	// Mutants are tried in this order.
	Mutants []mutate.Mutant
	// All are all mutants of lines. Results of an earlier hunt about other lines are dropped.
	All []mutate.Mutant
	// Excused reports whether a mutant has a reason not to be noticed. It may be nil. Such mutants are tried
	// together, because most of them survive.
	Excused func(m mutate.Mutant) bool
	// Again retries the survivors of an earlier hunt, because cases may have become stricter. It leaves out
	// excused mutants that survived all cases that reach them.
	Again bool
	// Workers is how many controllers run at the same time.
	Workers int
	// WakeIdle says that cases that kill no mutant are run with mutants that other cases killed.
	WakeIdle bool
	// Report is called with each result, by one goroutine at a time, and with the number of mutants
	// that are left. It may be nil.
	Report func(r mutate.Result, left int)
	// Log is called with messages about the progress of the hunt. It may be nil.
	Log func(format string, values ...any)
}

// Outcome is the outcome of a hunt.
type Outcome struct {
	Results []mutate.Result // in the order of the mutants
	Cases   []string        // that pass without a mutant
	Idle    []string        // of these, those that kill no mutant
	Known   int             // how many results an earlier hunt found
}

// Do tries the mutants. If ctx ends before the last one, the rest are untried, and the error is nil
// unless the state cannot be written. A hunt in a folder that has the state of an earlier one
// continues that one.
func Do(ctx context.Context, o Options) (Outcome, error) {
	h := &hunt{Options: o, results: map[string]mutate.Result{}, cases: map[string]*behave.Case{}, kills: map[string]int{}, ranker: mutate.NewRanker(o.Texts)}
	h.runs = h.runOnNginx
	if h.Log == nil {
		h.Log = func(string, ...any) {}
	}
	if h.Excused == nil {
		h.Excused = func(mutate.Mutant) bool { return false }
	}
	for _, c := range o.Run.Cases {
		h.cases[c.Name] = c
	}
	var err error
	if h.state, err = openState(o.Run.Dir); err != nil {
		return Outcome{}, err
	}
	defer h.state.close()
	if err := h.begin(ctx); err != nil {
		return Outcome{}, err
	}
	known := h.recall()
	for _, phase := range []func(context.Context) error{h.ignoreSettings, h.tryLines, h.tryTogether, h.wakeIdle} {
		if err := phase(ctx); err != nil && ctx.Err() == nil {
			return Outcome{}, err
		}
	}
	found := h.outcome()
	found.Known = known
	h.state.compact(o.All)
	return found, h.state.err()
}

// hunt is a hunt in progress.
type hunt struct {
	Options
	state  *state
	ranker *mutate.Ranker
	cases  map[string]*behave.Case // by name
	able   []string                // the cases that pass without a mutant
	reach  map[string][]string     // the cases that execute a line, by its site
	marked map[string]bool         // the sites of the template whose execution is recorded
	traced bool                    // the execution of all lines of Lua is recorded
	usual  map[string]bool         // why nginx rejects configurations without mutants
	// runs runs cases under mutants, all at once. If enough is not 0, the run ends when that many cases
	// have failed.
	runs func(ctx context.Context, mutants []mutate.Mutant, names []string, patience time.Duration, enough int) (verdict, error)

	taking  sync.Mutex // held while a lot is taken
	mu      sync.Mutex
	results map[string]mutate.Result // by the name of the mutant
	kills   map[string]int           // how many mutants each case killed
	killers []killer                 // which case killed a mutant of a line
}

// killer is a case that killed a mutant of a line.
type killer struct {
	file    string
	line    int
	name    string
	killers int // how many cases killed the mutant
}

// begin runs the cases without mutants.
func (h *hunt) begin(ctx context.Context) error {
	hashes := map[string]string{}
	for name, text := range h.Texts {
		hashes[name] = hash(map[string]string{name: text})
	}
	first := h.state.baseline().of(hash(mutate.Marked(h.Template))+hash(h.Lua), hashes)
	if len(first.Cases) < len(h.Run.Cases) {
		var err error
		if first, err = h.extend(ctx, first, hashes); err != nil {
			return err
		}
	}
	if err := h.state.keepBaseline(first); err != nil {
		return err
	}
	h.able, h.reach, h.marked, h.usual = first.Passed, first.Reach, mutate.Sites(h.Template), map[string]bool{}
	h.traced = slices.ContainsFunc(slices.Collect(maps.Keys(h.reach)), func(site string) bool { return strings.Contains(site, ".lua:") })
	for _, reason := range first.Rejections {
		h.usual[reason] = true
	}
	h.Log("%d of %d cases pass without mutants", len(h.able), len(h.Run.Cases))
	if len(h.able) == 0 {
		return errors.New("no case passes without mutants")
	}
	return nil
}

// recall takes over the results of an earlier hunt, and returns their number. It omits survivors
// that fewer cases reach now, because some of the cases that were run no longer reach the line;
// survivors that were tried with fewer cases than now run first (for a setting, all cases that set
// it); survivors that Again retries; and mutants killed only by cases that no longer pass without
// mutants.
func (h *hunt) recall() int {
	known := h.state.results()
	for _, m := range h.Mutants {
		if r, ok := known[m.Name]; ok && r.Was == m.Was && r.Now == m.Now {
			r.Mutant = m
			reached := len(h.reaching(m))
			first := reached // how many cases run first
			if m.File != "" {
				first = min(firstTries, reached)
			}
			outdated := r.Reached > reached || r.Ran < first || h.Again && (r.Ran < reached || !h.Excused(m))
			if r.Outcome == mutate.Unreached && reached > 0 || r.Outcome == mutate.Survived && outdated ||
				r.Outcome == mutate.Killed && len(among(r.By, h.able)) == 0 {
				continue
			}
			r.Reached = reached
			h.note(r)
		}
	}
	if len(h.results) > 0 {
		h.Log("%d of %d mutants are known from an earlier hunt", len(h.results), len(h.Mutants))
	}
	return len(h.results)
}

// settle records a result.
func (h *hunt) settle(r mutate.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.note(r)
	h.state.keep(r)
	if h.Report != nil {
		h.Report(r, len(h.Mutants)-len(h.results))
	}
}

func (h *hunt) note(r mutate.Result) {
	h.results[r.Name] = r
	if r.Outcome != mutate.Killed {
		return
	}
	for _, name := range r.By {
		h.kills[name]++
		h.killers = append(h.killers, killer{r.File, r.Line, name, len(r.By)})
	}
}

// result returns the result of a mutant, if there is one.
func (h *hunt) result(m mutate.Mutant) (mutate.Result, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.results[m.Name]
	return r, ok
}

// reaching returns the cases under which a mutant may have an effect.
func (h *hunt) reaching(m mutate.Mutant) []string {
	switch {
	case m.Kind == mutate.Lua && h.traced && m.Change() == "never" && len(m.Branch) > 0:
		return h.enteringBranch(m)
	case m.Kind == mutate.Template && h.marked[m.Site()] || m.Kind == mutate.Lua && h.traced:
		return h.reach[m.Site()]
	case m.File == "":
		return slices.DeleteFunc(slices.Clone(h.able), func(name string) bool { return !mutate.Sets(h.cases[name], m) })
	}
	return h.able
}

// enteringBranch returns the cases that execute a line of the mutant's branch. Under the others its condition
// never holds.
func (h *hunt) enteringBranch(m mutate.Mutant) []string {
	entering := map[string]bool{}
	for _, site := range m.BranchSites() {
		for _, name := range h.reach[site] {
			entering[name] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(h.able), func(name string) bool { return !entering[name] })
}

// outcome returns the outcome of the hunt.
func (h *hunt) outcome() Outcome {
	o := Outcome{Cases: h.able}
	for _, m := range h.Mutants {
		r, ok := h.results[m.Name]
		if !ok {
			r = mutate.Result{Mutant: m, Outcome: mutate.Untried}
		}
		if r.Outcome == mutate.Survived && r.Ran < r.Reached {
			r.Outcome = mutate.Undecided
		}
		o.Results = append(o.Results, r)
	}
	for _, name := range h.able {
		if h.kills[name] == 0 {
			o.Idle = append(o.Idle, name)
		}
	}
	return o
}

// parallel calls do with each item, in several goroutines, until one of them fails. The context of
// the others ends then.
func parallel[T any](ctx context.Context, workers int, items []T, do func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(workers, 1))
	for _, item := range items {
		group.Go(func() error {
			if ctx.Err() != nil {
				return nil //nolint:nilerr // another item has failed, or the time is over
			}
			return do(ctx, item)
		})
	}
	return group.Wait()
}

// of returns the cases with these names.
func (h *hunt) of(names []string) []*behave.Case {
	var all []*behave.Case
	for _, name := range names {
		all = append(all, h.cases[name])
	}
	return all
}

// sameFlags reports whether two cases can share an installation.
func sameFlags(a, b *behave.Case) bool { return maps.Equal(a.Flags, b.Flags) }

// sameConfig reports whether two cases with the same flags can share a batch.
func sameConfig(a, b *behave.Case) bool { return maps.Equal(a.Config, b.Config) }

// hasty reports whether a case can fail on a busy machine: it measures time, counts by chance, or
// reads logs.
func hasty(c *behave.Case) bool {
	return slices.ContainsFunc(c.Steps, func(s behave.Step) bool {
		e := s.Expect
		return e.Took != nil || e.Fails == "timeout" || e.Shares != nil || e.AccessLog != nil || e.ErrorLog != nil || s.Times > 1 || s.Timeout > 0 && s.Timeout < 10*time.Second
	})
}
