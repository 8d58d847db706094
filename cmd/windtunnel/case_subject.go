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

	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// mostInstallations limits the default number of controllers that run at the same time.
const mostInstallations = 16

// caseSubject contains the flags that say which controller cases are asked of, and how.
type caseSubject struct {
	installations int
	bundled       bool
	flags         map[string]string // of the controller, besides those of the cases
	driver        driverFlags
}

func (s *caseSubject) add(command *cobra.Command) {
	flags := command.Flags()
	flags.IntVar(&s.installations, "installations", min(4*runtime.NumCPU(), mostInstallations), "controllers that run at the same time")
	flags.BoolVar(&s.bundled, "bundled", false, "--controller or --image is a build of the bundled controller, which may differ from ingress-nginx as docs/compat.md admits")
	flags.StringToStringVar(&s.flags, "flag", nil, "flags of the controller, without dashes, as NAME=VALUE; those of a case take precedence")
	s.driver.add(command)
	s.driver.addController(flags)
}

// name names the controller, for reports.
func (s caseSubject) name() string {
	switch {
	case s.driver.controller != "":
		return s.driver.controller
	case s.driver.image != "":
		return s.driver.image
	}
	return "bundled controller"
}

// options returns how cases are run, with the folder for logs.
func (s caseSubject) options(d driver.Driver, cases []*behave.Case, dir string) caserun.Options {
	flags := map[string]string{"sync-rate-limit": "20"}
	maps.Copy(flags, s.flags)
	namespace, name, _ := strings.Cut(simulated.ConfigMap, "/")
	return caserun.Options{
		Cases: cases, Driver: d,
		Subject:   subject.Subject{Name: "subject", Controller: subject.Bundled, Flags: flags},
		ConfigMap: types.NamespacedName{Namespace: namespace, Name: name},
		Bundled:   s.bundled || !s.driver.replacesController(), Has: fulfils(),
		Dir: dir, Installations: s.installations,
	}
}

// do runs cases and shows the progress. The error, which is printed as well, says why some could not
// be run. done is called with each result.
func (s caseSubject) do(ctx context.Context, o caserun.Options, stderr io.Writer, done func(behave.Result)) ([]behave.Result, error) {
	progress := showCaseProgress(stderr, len(o.Cases))
	o.Done = func(r behave.Result) {
		if o.Recorded != nil && r.Outcome == behave.Failed {
			r.Outcome = behave.Passed // what is recorded expects nothing yet
		}
		progress.done(r, func() { done(r) })
	}
	results, err := caserun.Do(ctx, o)
	progress.end()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "windtunnel: interrupted; the cases that were not run are void")
	case err != nil:
		fmt.Fprintln(stderr, "windtunnel:", err)
	}
	return results, err
}

// run runs cases and returns what reports show.
func (s caseSubject) run(ctx context.Context, d driver.Driver, cases []*behave.Case, dir string, stderr io.Writer, done func(behave.Result)) (casereport.Document, error) {
	began := time.Now()
	results, err := s.do(ctx, s.options(d, cases, dir), stderr, done)
	return casereport.Of(casereport.Run{Subject: s.name(), Driver: d.Name(), Start: began, Took: time.Since(began)}, cases, results), err
}
