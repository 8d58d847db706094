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
	a, b := subjects[0], subjects[1]
	onlyTemplates := sides.Base != nil && sides.SameProgram && maps.Equal(a.Flags, b.Flags) && maps.Equal(a.Config, b.Config)
	return func(ctx context.Context, progress func(string, int, int)) (*regress.Behaviour, error) {
		if onlyTemplates && maps.Equal(sides.Base.Template(), sides.Head.Template()) {
			return nothingToAsk(0), nil
		}
		paths := o.cases
		if len(paths) == 0 {
			paths = []string{caseFolder}
			if _, err := os.Stat(caseFolder); err != nil {
				return o.unable(fmt.Errorf("there is no folder %s here: name cases with --cases", caseFolder))
			}
		}
		cases, err := loadCases(paths)
		if err != nil {
			return nil, err
		}
		affected := cases
		if onlyTemplates {
			affected = behaviour.Affected(cases, sides.Base, sides.Head)
		}
		if len(affected) == 0 {
			return nothingToAsk(len(cases)), nil
		}
		asker := sideAsker{subjects: subjects, driver: o.driver, folder: folder}
		for _, side := range []string{regress.SideBase, regress.SideHead} {
			if _, _, err := asker.open(side); err != nil {
				return o.unable(fmt.Errorf("%s cannot run: %w", side, err))
			}
		}
		found, err := behaviour.Compare(ctx, affected, asker.ask, progress)
		if found != nil {
			found.LeftOut = len(cases) - len(affected)
		}
		return found, err
	}
}

// nothingToAsk is the result if no answer can differ.
func nothingToAsk(cases int) *regress.Behaviour {
	return &regress.Behaviour{LeftOut: cases, Skipped: "both sides render the same, with the same Lua code, nginx and settings", Answers: []regress.Answer{}}
}

// unable returns why cases cannot be asked: as an error if the part is asked for.
func (o *regressOptions) unable(why error) (*regress.Behaviour, error) {
	if len(o.parts) > 0 {
		return nil, fmt.Errorf("--part %s: %w", regress.BehaviourPart, why)
	}
	return &regress.Behaviour{Unable: why.Error(), Answers: []regress.Answer{}}, nil
}

// sideAsker runs cases on the controllers of the sides.
type sideAsker struct {
	subjects [2]scenario.Subject
	driver   driverFlags
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
	s := caseSubject{
		installations: min(4*runtime.NumCPU(), mostInstallations), text: side,
		driver: a.driver, bundled: spec.Controller == scenario.Bundled,
	}
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
