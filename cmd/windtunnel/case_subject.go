package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// mostInstallations limits the default number of controllers that run at the same time.
const mostInstallations = 16

// caseSubject contains the flags that select and configure the controller on which cases run.
type caseSubject struct {
	installations int
	bundled       bool
	flags         map[string]string // of the controller, besides those of the cases
	text          string            // of --subject
	driver        driverFlags

	given subject.Subject // parsed from text by open
}

func (s *caseSubject) add(command *cobra.Command) {
	flags := command.Flags()
	flags.IntVar(&s.installations, "installations", min(4*runtime.NumCPU(), mostInstallations), "controllers that run at the same time")
	flags.BoolVar(&s.bundled, "bundled", false, "the controller is a build of the bundled one, which may differ from ingress-nginx as documented in docs/compat.md")
	flags.StringToStringVar(&s.flags, "flag", nil, "flags of the controller, without dashes, as NAME=VALUE; those of a case take precedence")
	flags.StringVar(&s.text, "subject", "", "what runs instead of the bundled controller: "+subjectUsage)
	s.driver.add(command)
	s.driver.addController(flags)
}

// open parses --subject, and returns the driver for it.
func (s *caseSubject) open(ctx context.Context) (driver.Driver, error) {
	s.given = subject.Subject{Name: "subject", Controller: subject.Bundled}
	if s.text != "" {
		parsed, err := parseSubjects([]string{s.text}, !s.driver.isLocal())
		if err != nil {
			return nil, err
		}
		s.given = subject.Of(together(parsed...))[0]
	}
	s.driver.unbundled = !s.isBundled()
	if err := s.driver.checkBundled(); err != nil {
		return nil, err
	}
	return s.openGiven(ctx)
}

// openGiven returns the driver for the subject in given.
func (s *caseSubject) openGiven(ctx context.Context) (driver.Driver, error) {
	if s.installations < 1 {
		return nil, fmt.Errorf("--installations=%d: want at least one controller", s.installations)
	}
	s.driver.unbundled = !s.isBundled()
	if s.asksBundled() {
		var err error
		if s.flags, err = knownFlags(s.flags); err != nil {
			return nil, err
		}
	}
	d, err := s.driver.open(ctx)
	if err != nil {
		return nil, err
	}
	return d, driver.SupportsSubject(d, s.given)
}

// isBundled reports whether the subject runs the bundled controller, or one that flags put in its place.
func (s caseSubject) isBundled() bool { return s.given.Controller == subject.Bundled }

// asksBundled reports whether the cases run on the bundled controller itself.
func (s caseSubject) asksBundled() bool { return s.isBundled() && !s.driver.replacesController() }

// name names the controller, for reports.
func (s caseSubject) name() string {
	switch {
	case s.text != "":
		return s.text
	case s.driver.controller != "":
		return s.driver.controller
	case s.driver.image != "":
		return s.driver.image
	}
	return "bundled controller"
}

// caseTarget describes the controllers on which cases run.
type caseTarget struct {
	caserun.Options        // without Dir and Done
	name            string // of the controller, for reports
	live            bool   // set what cases cover on the running controller
	progress        progressFlags
}

// target returns the target for a run of the cases with the driver.
func (s caseSubject) target(d driver.Driver, cases []*behave.Case) caseTarget {
	flags := map[string]string{}
	if s.given.Adapter == "" || s.given.Adapter == adapters.Default {
		flags["sync-rate-limit"] = "20"
	}
	maps.Copy(flags, s.given.Flags)
	maps.Copy(flags, s.flags)
	with := s.given
	if with.Name == "" { // the controller is installed already
		with.Name, with.Controller = "subject", subject.Bundled
	}
	with.Flags = flags
	namespace, name, _ := strings.Cut(configMapOf(with), "/")
	return caseTarget{name: s.name(), Options: caserun.Options{
		Cases: cases, Driver: d, Subject: with,
		ConfigMap: types.NamespacedName{Namespace: namespace, Name: name},
		Bundled:   s.bundled || s.asksBundled(), Has: fulfils(),
		Installations: s.installations,
	}}
}

// do runs cases and shows the progress. The error, which is printed as well, says why some could not
// be run. done is called with each result.
func (t caseTarget) do(ctx context.Context, stderr io.Writer, done func(behave.Result)) ([]behave.Result, error) {
	progress := showCaseProgress(stderr, len(t.Cases), t.progress.plain(stderr))
	t.Done = func(r behave.Result) {
		if t.Recorded != nil && r.Outcome == behave.Failed {
			r.Outcome = behave.Passed // a case that is being recorded has no expectations yet
		}
		progress.done(r, func() { done(r) })
	}
	do := caserun.Do
	if t.live {
		do = caserun.Live
	}
	results, err := do(ctx, t.Options)
	progress.end()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "windtunnel: interrupted; the cases that were not run are void")
	case err != nil:
		fmt.Fprintln(stderr, "windtunnel:", err)
	}
	return results, err
}

// run runs cases and returns the document for the reports.
func (t caseTarget) run(ctx context.Context, stderr io.Writer, done func(behave.Result)) (casereport.Document, error) {
	began := time.Now()
	results, err := t.do(ctx, stderr, done)
	return casereport.Of(casereport.Run{Subject: t.name, Driver: t.Driver.Name(), Start: began, Took: time.Since(began)}, t.Cases, results), err
}
