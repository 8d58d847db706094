// Package migrate examines what a move from one ingress controller to others changes for the
// clients of given ingresses: it sends all controllers the requests that follow from the manifests,
// compares the answers, and measures the costs of changes on each. Its one rule: it only
// coordinates. Other packages send requests, compare and measure, and sim/migrate/report interprets
// the results.
package migrate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/behave/diff"
	casereport "windtunnel.dev/sim/behave/report"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/migrate/report"
)

// Side is a controller of a migration.
type Side struct {
	Name string // unique
	// Ask are the options for running cases on it. Do sets Cases, Dir, Done and Recorded.
	Ask caserun.Options
}

// Plan is a migration to be examined.
type Plan struct {
	Derived derive.Derived
	Known   behave.Known // what cases may name
	From    Side         // whose answers are the expected ones
	To      []Side
	// Costs says how costs are measured. If it is nil, they are not measured.
	Costs *Costs
	// Dir is the folder for everything that is kept: the recorded cases, the runs that measure costs,
	// and logs.
	Dir string
	Say io.Writer // gets lines about the progress
	// Watch is called before a number of cases is run on a controller: done is called with each
	// result, by one goroutine at a time, and end after the last one. It may be nil.
	Watch func(cases int) (done func(behave.Result), end func())
}

// The folders in the folder of a migration.
const (
	CasesDir = "cases"
	CostsDir = "costs"
	logsDir  = "logs"
)

// Do sends the requests to all controllers and measures their costs. The error says why that could
// not be done. A controller that answers nothing is not an error: the document says so. If ctx ends
// early, the document covers the finished part, and says that it was interrupted.
func Do(ctx context.Context, p Plan) (report.Document, error) {
	began := time.Now()
	d := report.Document{
		Schema: report.Schema, From: p.From.Name, Driver: p.From.Ask.Driver.Name(), Start: began,
		To: []report.Target{}, NotAsked: append([]derive.Omission{}, p.Derived.Omissions...), NotRecorded: []diff.NotCompared{},
	}
	asked, err := p.record(ctx, &d)
	if err != nil {
		return d, err
	}
	var cases []*behave.Case
	for _, one := range asked {
		if one.Case != nil {
			cases = append(cases, one.Case)
		}
	}
	var answered []report.Answered
	for _, side := range p.To {
		answers, err := p.ask(ctx, side, cases)
		if err != nil {
			return d, err
		}
		answered = append(answered, answers)
	}
	d.Compare(asked, answered)
	if p.Costs != nil {
		if d.Costs, err = p.measure(ctx); err != nil {
			return d, err
		}
	}
	d.Interrupted = ctx.Err() != nil
	d.Took = time.Since(began)
	return d, nil
}

// record runs the cases on the controller to leave, and keeps its answers as expectations.
func (p Plan) record(ctx context.Context, d *report.Document) ([]report.Asked, error) {
	recording, err := derive.NewRecording(p.Derived.Cases, CasesDir, p.Known)
	if err != nil {
		return nil, err
	}
	if err := caserun.Repeated(recording.Asked()); err != nil {
		return nil, err
	}
	fmt.Fprintf(p.Say, "recording the answers of %s\n", p.From.Name)
	cases, _ := p.From.fitting(recording.Asked())
	answers := map[string][]string{}
	results, err := p.run(ctx, p.From, cases, true, func(c *behave.Case, records []behave.Record) {
		recording.Add(c, records)
		answers[c.Name] = report.Answers(records)
	})
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(p.Dir, CasesDir)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	var all []report.Asked
	for n, c := range p.Derived.Cases {
		one := report.Asked{Ingresses: c.Ingresses, Answers: answers[recording.Asked()[n].Name]}
		if complete := recording.Case(n); complete == nil {
			d.NotRecorded = append(d.NotRecorded, diff.NotCompared{Case: CasesDir + "/" + c.Name, Why: cmp.Or(results[n].Reason, "no request was sent")})
		} else if one.Case, err = p.keep(complete, filepath.Join(folder, c.Name+".yaml")); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// keep writes a recorded case to a file and reads it again, so that its steps have their lines.
func (p Plan) keep(c *behave.Case, path string) (*behave.Case, error) {
	text, err := derive.File(c)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return nil, err
	}
	kept, err := behave.Parse(filepath.Join(CasesDir, filepath.Base(path)), text, p.Known)
	if err != nil {
		return nil, fmt.Errorf("the case that was recorded is not valid, which is a bug of windtunnel: %w", err)
	}
	kept.Name = CasesDir + "/" + c.Name
	return kept, nil
}

// ask runs recorded cases on a controller to move to.
func (p Plan) ask(ctx context.Context, side Side, cases []*behave.Case) (report.Answered, error) {
	if ctx.Err() == nil {
		fmt.Fprintf(p.Say, "sending the same requests to %s\n", side.Name)
	}
	answered := report.Answered{Name: side.Name, Answers: map[string][]string{}}
	fitting, unreached := side.fitting(cases)
	results, err := p.run(ctx, side, fitting, false, func(c *behave.Case, records []behave.Record) { answered.Answers[c.Name] = report.Answers(records) })
	if err != nil {
		return answered, err
	}
	document := casereport.Of(casereport.Run{Subject: side.Name, Driver: side.Ask.Driver.Name()}, fitting, results)
	answered.Diff, answered.Unreached = diff.WithRecorded(document), unreached
	return answered, nil
}

// run runs cases on a controller. first says that the cases have no expectations yet. If a
// controller cannot be started, or the run is interrupted, cases become void; the error only
// reports problems of this process.
func (p Plan) run(ctx context.Context, side Side, cases []*behave.Case, first bool, recorded func(*behave.Case, []behave.Record)) ([]behave.Result, error) {
	o := side.Ask
	o.Cases, o.Recorded, o.Dir = cases, recorded, filepath.Join(p.Dir, logsDir, side.Name)
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	end := func() {}
	if p.Watch != nil {
		var done func(behave.Result)
		done, end = p.Watch(len(cases))
		o.Done = func(r behave.Result) {
			if first && r.Outcome == behave.Failed {
				r.Outcome = behave.Passed
			}
			done(r)
		}
	}
	results, err := caserun.Do(ctx, o)
	end()
	if err != nil && ctx.Err() == nil {
		return results, errors.Join(fmt.Errorf("sending requests to %s (logs in %s)", side.Name, o.Dir), err)
	}
	return results, nil
}
