package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/sweep"
	"windtunnel.dev/sim/sweep/report"
)

// largest limits the size of a sweep's result, in bytes.
const largest = 64 << 20

// begin returns the document of a new sweep, or that of the folder with its finished runs.
func (s Sweep) begin() (sweep.Document, error) {
	first := s.Planned[0].Scenario
	doc := sweep.Document{
		Schema: sweep.Schema, Scenario: first.Name, Summary: first.Summary, Driver: s.Driver.Name(),
		Design: s.Design, Figures: sweep.Described(s.Figures), Runs: []sweep.Run{}, Rows: []sweep.Row{}, Interrupted: true,
	}
	before, err := Load(s.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := s.checkEmpty(); err != nil {
			return doc, err
		}
		return doc, errors.Join(os.MkdirAll(s.Out, 0o755), save(s.Out, doc))
	case err != nil:
		return doc, err
	case !s.Resume:
		return doc, fmt.Errorf("%s holds a sweep already: continue it with --resume, or choose another --out", s.Out)
	}
	if err := s.same(before); err != nil {
		return doc, fmt.Errorf("%s holds another sweep: %w; choose another --out", s.Out, err)
	}
	doc.Started, doc.Ended, doc.Environment = before.Started, before.Ended, before.Environment
	doc.Runs, err = s.kept(before)
	return doc, err
}

// checkEmpty returns an error if the folder, which has no sweep, has files that runs could overwrite.
func (s Sweep) checkEmpty() error {
	entries, err := os.ReadDir(s.Out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return fmt.Errorf("%s has files, but no %s of a sweep: choose another --out", s.Out, rundir.Result)
}

// same returns an error if the sweep in the folder has another design.
func (s Sweep) same(before sweep.Document) error {
	was, is := before.Design, s.Design
	switch {
	case before.Scenario != s.Planned[0].Scenario.Name:
		return fmt.Errorf("its scenario is %s", before.Scenario)
	case before.Driver != s.Driver.Name():
		return fmt.Errorf("its driver is %s", before.Driver)
	case !reflect.DeepEqual(was.Factors, is.Factors):
		return fmt.Errorf("it varies %s, and this one %s", vary(was.Factors), vary(is.Factors))
	case was.OneAtATime != is.OneAtATime:
		return errors.New("only one of the two varies one factor at a time")
	case !reflect.DeepEqual(was.Fraction, is.Fraction):
		return fmt.Errorf("it runs %s, and this one %s", was.Fraction, is.Fraction)
	case was.Rounds != is.Rounds:
		return fmt.Errorf("it has --rounds %d", was.Rounds)
	case was.Seed != is.Seed:
		return fmt.Errorf("its seed is %d", was.Seed)
	}
	return nil
}

// vary formats factors as on the command line, with the scenario's own values.
func vary(factors []sweep.Factor) string {
	var all bytes.Buffer
	for i, f := range factors {
		if i > 0 {
			all.WriteString(", ")
		}
		fmt.Fprintf(&all, "%s=%q", f.Path, f.Values)
		if f.Own != "" {
			fmt.Fprintf(&all, " (its own value: %s)", f.Own)
		}
	}
	return all.String()
}

// kept returns the finished runs of the folder, with the chosen figures. Void runs do not count as
// finished. A run of another scenario is an error.
func (s Sweep) kept(before sweep.Document) ([]sweep.Run, error) {
	kept := []sweep.Run{}
	planned := map[int]sweep.Planned{}
	for _, p := range s.Planned {
		planned[p.Number] = p
	}
	for _, run := range before.Runs {
		p, known := planned[run.Combination.Number]
		if !known || run.Outcome == judge.Void || run.Dir != s.dir(task{p, run.Round}) {
			continue
		}
		dir := filepath.Join(s.Out, run.Dir)
		text, err := rundir.Text(p.Scenario, true)
		if err != nil {
			return nil, err
		}
		was, err := readfile.Read(rundir.Dir(dir).File(rundir.Scenario), largest)
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody has removed the run
		}
		if err != nil {
			return nil, err
		}
		if !bytes.Equal(text, was) {
			return nil, fmt.Errorf("%s is a run of another scenario: %s differs from that of combination %d; choose another --out, or restore the scenario's file", dir, rundir.Scenario, p.Number)
		}
		results, err := rundir.Results(dir)
		if err != nil {
			return nil, err
		}
		run.Subjects = sweep.ValuesOf(results[0], s.Figures, s.Drain)
		kept = append(kept, run)
	}
	return kept, nil
}

// Load reads the result of the sweep in a folder.
func Load(out string) (doc sweep.Document, err error) {
	data, err := readfile.Read(result(out), largest)
	if err != nil {
		return doc, err
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return doc, fmt.Errorf("%s: %w", result(out), err)
	}
	if doc.Schema != sweep.Schema {
		return doc, fmt.Errorf("%s has the schema %q, not %q of a sweep: choose another --out", result(out), doc.Schema, sweep.Schema)
	}
	return doc, nil
}

// save writes the result of a sweep.
func save(out string, doc sweep.Document) error {
	return rundir.WriteFile(result(out), func(w io.Writer) error { return report.JSON(w, doc) })
}
