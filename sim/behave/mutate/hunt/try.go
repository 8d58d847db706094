package hunt

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
	caserun "windtunnel.dev/sim/behave/run"
)

// patience is how long a controller with a mutant may take to serve a change.
const patience = 15 * time.Second

// rejection matches nginx's reason in the log of a controller, up to the place in the configuration.
var rejection = regexp.MustCompile(`\[emerg\](?: \d+#\d+:)? (.*?) in /`)

// run runs cases with files of a template and of Lua code. It also returns why nginx rejects
// configurations.
func (h *hunt) run(ctx context.Context, o caserun.Options, template, lua map[string]string) (results []behave.Result, rejections []string, err error) {
	work := filepath.Join(h.Run.Dir, tryFolder)
	if err := os.MkdirAll(work, 0o755); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp(work, "run-")
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // nginx's workers read the Lua code
		return nil, nil, err
	}
	flags := maps.Clone(o.Subject.Flags)
	if flags == nil {
		flags = map[string]string{}
	}
	for flag, files := range map[string]map[string]string{"nginx-template": template, "lua-dir": lua} {
		folder, err := filepath.Abs(filepath.Join(dir, flag))
		if err != nil {
			return nil, nil, err
		}
		if err := write(folder, files); err != nil {
			return nil, nil, err
		}
		flags[flag] = folder
	}
	o.Subject.Flags, o.Dir = flags, filepath.Join(dir, "run")
	results, err = caserun.Do(ctx, o)
	rejections, unread := rejectionsIn(o.Dir)
	return results, rejections, errors.Join(err, unread)
}

// rejectionsIn returns why nginx rejected configurations, according to the logs of the controllers of a
// run.
func rejectionsIn(dir string) (rejections []string, err error) {
	logs, err := filepath.Glob(filepath.Join(dir, "*", "controller.log"))
	if err != nil {
		return nil, err
	}
	for _, log := range logs {
		text, err := os.ReadFile(log)
		if err != nil {
			return nil, err
		}
		for _, found := range rejection.FindAllSubmatch(text, -1) {
			rejections = append(rejections, string(found[1]))
		}
	}
	slices.Sort(rejections)
	return slices.Compact(rejections), nil
}

func write(folder string, files map[string]string) error {
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// verdict is the outcome of running cases under mutants.
type verdict struct {
	outcome mutate.Outcome
	by      []string
	passed  []string
	why     string
	reasons map[string]string // why each case failed
	void    bool              // a case could not be run
}

// try runs cases under mutants of lines, all at once. It repeats outcomes that a busy machine can
// cause: that nothing is served and, for a single mutant, that only one case fails, which depends on
// time. enough is that of hunt.runs.
func (h *hunt) try(ctx context.Context, mutants []mutate.Mutant, names []string, enough int) (verdict, error) {
	v, err := h.runs(ctx, mutants, names, patience, enough)
	switch {
	case err != nil || v.outcome != mutate.Killed:
	case v.void:
		again, err := h.runs(ctx, mutants, v.by[:min(sure, len(v.by))], 2*patience, 0)
		// A kill says nothing about the other mutants, whose failed cases may not be among these.
		if err != nil || again.void || again.outcome == mutate.Stillborn || again.outcome == mutate.Killed && len(mutants) == 1 {
			return again, err
		}
		return h.runs(ctx, mutants, names, 2*patience, enough)
	case len(mutants) == 1 && h.doubtful(v.by):
		again, err := h.runs(ctx, mutants, v.by, patience, 0)
		if err != nil || again.outcome != mutate.Killed {
			return verdict{outcome: mutate.Survived}, err
		}
	}
	return v, err
}

// doubtful reports whether a busy machine can be the reason that just these cases fail.
func (h *hunt) doubtful(failed []string) bool { return len(failed) == 1 && hasty(h.cases[failed[0]]) }

// runOnNginx is hunt.runs on controllers with a real nginx.
func (h *hunt) runOnNginx(ctx context.Context, mutants []mutate.Mutant, names []string, patience time.Duration, enough int) (verdict, error) {
	running, end := context.WithCancel(ctx)
	defer end()
	var done []behave.Result
	failed := 0
	o := h.Run
	o.Cases, o.Installations, o.Patience, o.Whole = h.of(names), 1, patience, true
	o.Done = func(r behave.Result) {
		done = append(done, r)
		if noticed(r) {
			failed++
		}
		if failed == enough && enough > 0 {
			end()
		}
	}
	if len(names) > 2*firstTries {
		o.Installations = h.Workers
	}
	of := func(kind mutate.Kind) []mutate.Mutant {
		return slices.DeleteFunc(slices.Clone(mutants), func(m mutate.Mutant) bool { return m.Kind != kind })
	}
	template, lua := mutate.Apply(h.Template, of(mutate.Template)...), mutate.Apply(h.Lua, of(mutate.Lua)...)
	results, rejections, err := h.run(running, o, template, lua)
	if running.Err() != nil && ctx.Err() == nil { // enough cases have failed; the others did not run
		results, err = done, nil
	}
	if err != nil {
		return verdict{}, err
	}
	v := judge(results)
	rejections = slices.DeleteFunc(rejections, func(reason string) bool { return h.usual[reason] })
	if v.outcome == mutate.Killed && len(rejections) > 0 {
		v.outcome, v.why = mutate.Stillborn, rejections[0]
	}
	return v, nil
}

// noticed reports whether a case, which passes without mutants, notices one.
func noticed(r behave.Result) bool {
	return r.Outcome == behave.Failed || r.Outcome == behave.NoLonger || r.Outcome == behave.Void
}

// judge returns the verdict on the mutant under which cases had these results.
func judge(results []behave.Result) verdict {
	v := verdict{outcome: mutate.Survived, reasons: map[string]string{}}
	for _, r := range results {
		if !noticed(r) {
			v.passed = append(v.passed, r.Case)
			continue
		}
		switch r.Outcome {
		case behave.Failed, behave.NoLonger:
			v.by = append(v.by, r.Case)
			if len(r.Failures) > 0 {
				v.reasons[r.Case] = r.Failures[0].Error()
			}
		case behave.Void:
			if r.NotStarted() {
				return verdict{outcome: mutate.Stillborn, why: r.Reason}
			}
			v.by, v.void = append(v.by, r.Case), true
			v.reasons[r.Case] = r.Reason
		}
	}
	if len(v.by) > 0 {
		v.outcome, v.why = mutate.Killed, v.reasons[v.by[0]]
	}
	return v
}
