package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"

	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/behaviour"
	"windtunnel.dev/sim/regress/side"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// behaviourOf returns what asks the cases of both sides.
func (o *regressOptions) behaviourOf(sides side.Pair, subjects [2]scenario.Subject, folder string) func(context.Context, func(string, int, int)) (*regress.Behaviour, error) {
	return func(ctx context.Context, progress func(string, int, int)) (*regress.Behaviour, error) {
		paths := o.cases
		if len(paths) == 0 {
			if _, err := os.Stat(caseFolder); err != nil {
				return &regress.Behaviour{Skipped: "no case was asked: there is no folder " + caseFolder + " here; name cases with --cases", Answers: []regress.Answer{}}, nil
			}
			paths = []string{caseFolder}
		}
		cases, err := loadCases(paths)
		if err != nil {
			return nil, err
		}
		all := len(cases)
		a, b := subjects[0], subjects[1]
		if sides.SameProgram && maps.Equal(a.Flags, b.Flags) && maps.Equal(a.Config, b.Config) {
			cases = behaviour.Affected(cases, sides.Base, sides.Head)
			if maps.Equal(sides.Base.Template(), sides.Head.Template()) {
				cases = nil
			}
		}
		if len(cases) == 0 {
			return &regress.Behaviour{LeftOut: all, Skipped: "no case was asked: both sides render the same for all, with the same Lua code, nginx and settings", Answers: []regress.Answer{}}, nil
		}
		asker := sideAsker{subjects: subjects, folder: folder}
		for _, side := range []string{regress.SideBase, regress.SideHead} {
			_, _, err := asker.open(side)
			switch {
			case err != nil && len(o.parts) == 0: // not asked for
				return &regress.Behaviour{Skipped: "no case was asked: " + side + " cannot run: " + err.Error(), Answers: []regress.Answer{}}, nil
			case err != nil:
				return nil, fmt.Errorf("%s: %w", side, err)
			}
		}
		found, err := behaviour.Compare(ctx, cases, asker.ask, progress)
		if found != nil {
			found.LeftOut = all - len(cases)
		}
		return found, err
	}
}

// sideAsker runs cases on the controllers of the sides.
type sideAsker struct {
	subjects [2]scenario.Subject
	folder   string
	runs     int
}

// open returns the flags of case run for a side, and its driver.
func (a *sideAsker) open(side string) (caseSubject, driver.Driver, error) {
	spec := a.subjects[0]
	if side == regress.SideHead {
		spec = a.subjects[1]
	}
	spec.Name = side
	s := caseSubject{installations: min(4*runtime.NumCPU(), mostInstallations), text: side}
	s.given = subject.Of(&scenario.Scenario{Spec: scenario.Spec{Subjects: []scenario.Subject{spec}}})[0]
	d, err := s.openGiven()
	return s, d, err
}

func (a *sideAsker) ask(ctx context.Context, side string, cases []*behave.Case, done func(behave.Result)) (casereport.Document, error) {
	s, d, err := a.open(side)
	if err != nil {
		return casereport.Document{}, err
	}
	a.runs++
	target := s.target(d, cases)
	target.Dir = filepath.Join(a.folder, fmt.Sprintf("run-%d-%s", a.runs, side))
	if err := os.MkdirAll(target.Dir, 0o755); err != nil {
		return casereport.Document{}, err
	}
	document, err := target.run(ctx, io.Discard, done)
	return document, errors.Join(err, ctx.Err())
}
