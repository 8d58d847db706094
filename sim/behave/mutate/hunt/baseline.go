package hunt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

// traceFile is the file of a hunt's folder with the lines of Lua that nginx executes.
const traceFile = "lua.trace"

// baseline is the behaviour of the cases without mutants.
type baseline struct {
	Files      string              // a hash of the template that was marked, and of the Lua code that was traced
	Cases      map[string]string   // hashes of the texts of the cases, by name
	Passed     []string            // the cases that pass
	Reach      map[string][]string // the cases that execute a line
	Rejections []string            // why nginx rejects configurations of cases that are about that
}

// of returns the part of the baseline that is valid for these files and cases: it drops cases whose
// text has changed and, if the files have changed, everything. cases has hashes by name.
func (b baseline) of(files string, cases map[string]string) baseline {
	if b.Files != files {
		return baseline{Files: files, Cases: map[string]string{}, Reach: map[string][]string{}}
	}
	other := func(name string) bool { return b.Cases[name] != cases[name] }
	b.Passed = slices.DeleteFunc(b.Passed, other)
	for site, names := range b.Reach {
		b.Reach[site] = slices.DeleteFunc(names, other)
	}
	maps.DeleteFunc(b.Cases, func(name, _ string) bool { return other(name) })
	return b
}

func hash(texts map[string]string) string {
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(sum, "%q=%q;", name, texts[name])
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// extend runs the cases that a baseline lacks with the marked template and the traced Lua code. Those
// that fail are run again, because a busy machine can be the reason.
func (h *hunt) extend(ctx context.Context, b baseline, hashes map[string]string) (baseline, error) {
	trace, err := filepath.Abs(filepath.Join(h.Run.Dir, traceFile))
	if err != nil {
		return b, err
	}
	if err := os.Remove(trace); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return b, err
	}
	reached := newReach(h.cases)
	left := slices.DeleteFunc(slices.Clone(h.Run.Cases), func(c *behave.Case) bool { return b.Cases[c.Name] != "" })
	asked := left
	h.Log("running %d of %d cases without mutants", len(left), len(h.Run.Cases))
	maps.Copy(b.Cases, hashes)
	var passed []string
	for range 2 {
		o := h.Run
		o.Cases, o.Installations, o.Done = left, h.Workers, nil
		o.Served = func(c *behave.Case, conf []byte) {
			reached.add(mutate.ReadMarks(string(conf)), []*behave.Case{c})
		}
		results, rejections, err := h.run(ctx, o, mutate.Marked(h.Template), mutate.Traced(h.Lua, trace))
		if err != nil {
			return b, err
		}
		b.Rejections = append(b.Rejections, rejections...)
		left = nil
		for _, r := range results {
			switch {
			case r.Outcome == behave.Passed || r.Outcome == behave.Differs:
				passed = append(passed, r.Case)
			case r.Outcome != behave.Skipped:
				left = append(left, h.cases[r.Case])
			}
		}
	}
	log, err := os.ReadFile(trace)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // foreign Lua code may begin elsewhere
		return b, err
	}
	reached.add(mutate.ReadTrace(string(log), h.Lua), asked)
	reached.into(b.Reach, passed)
	b.Passed = append(b.Passed, passed...)
	slices.Sort(b.Passed)
	return b, ctx.Err()
}
