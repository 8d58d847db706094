package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/subject"
)

// caseFolder is the default folder for cases.
const caseFolder = "cases"

// mostInstallations limits the default number of controllers that run at the same time.
const mostInstallations = 16

func caseCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "case",
		Short: "Check what a controller does, request by request",
	}
	command.AddCommand(caseRunCommand())
	return command
}

// caseRunOptions contains the flags of case run.
type caseRunOptions struct {
	out           string
	installations int
	bundled       bool
	driver        driverFlags
	format        format
}

func caseRunCommand() *cobra.Command {
	var o caseRunOptions
	command := &cobra.Command{
		Use:   "run [FILE|FOLDER…]",
		Short: "Run behaviour cases on a controller",
		Long: `Run behaviour cases on a controller (default: all cases in the folder cases).

Prints the expectations that do not hold as FILE:LINE: STEP: what was answered, and
what was wanted; then the outcomes by topic. Cases with the same flags share a
controller, and cases with the same ConfigMap run on it at the same time.
Writes a folder with the results (result.json), a page (report.html), a summary for
pull requests (report.md), a report for CI systems (junit.xml), and the logs of the
controllers.
Exit codes: 0 every case passed, differs as it admits, or was skipped, 1 one failed, 2
the cases could not be run, 3 one is void (its line says why), 130 interrupted.`,
		ValidArgsFunction: completeCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{caseFolder}
			}
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/cases-TIME)")
	flags.IntVar(&o.installations, "installations", min(4*runtime.NumCPU(), mostInstallations), "controllers that run at the same time")
	flags.BoolVar(&o.bundled, "bundled", false, "--controller or --image is a build of the bundled controller, which may differ from ingress-nginx as docs/compat.md admits")
	o.driver.add(command)
	o.driver.addController(flags)
	o.format.add(command, markdownFormat)
	return command
}

func (o caseRunOptions) run(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	cases, err := loadCases(paths)
	if err != nil {
		return err
	}
	d, err := o.driver.open()
	if err != nil {
		return err
	}
	dir, err := o.createDir()
	if err != nil {
		return err
	}
	namespace, name, _ := strings.Cut(simulated.ConfigMap, "/")
	began := time.Now()
	progress := showCaseProgress(stderr, len(cases))
	results, err := caserun.Do(ctx, caserun.Options{
		Cases: cases, Driver: d,
		Subject:   subject.Subject{Name: "subject", Controller: subject.Bundled, Flags: map[string]string{"sync-rate-limit": "20"}},
		ConfigMap: types.NamespacedName{Namespace: namespace, Name: name},
		Bundled:   o.bundled || !o.driver.replacesController(), Has: fulfils(),
		Dir: string(dir), Installations: o.installations,
		Done: func(r behave.Result) {
			progress.done(r, func() {
				if o.format.chosen == textFormat {
					_ = casereport.Line(stdout, r) // the report below fails if stdout does
				}
			})
		},
	})
	progress.end()
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "windtunnel: interrupted; the cases that were not run are void")
	case err != nil:
		fmt.Fprintln(stderr, "windtunnel:", err)
	}
	document := casereport.Of(casereport.Run{Subject: o.subject(), Driver: d.Name(), Start: began, Took: time.Since(began)}, cases, results)
	if err := writeCaseReports(dir, document); err != nil {
		return err
	}
	if err := o.print(stdout, dir, document); err != nil {
		return err
	}
	return exitWith(caseOutcome(ctx, err, document.Outcomes))
}

// subject names what is run, for reports.
func (o caseRunOptions) subject() string {
	switch {
	case o.driver.controller != "":
		return o.driver.controller
	case o.driver.image != "":
		return o.driver.image
	}
	return "bundled controller"
}

// createDir makes the folder for the results. A folder that has results already is an error.
func (o caseRunOptions) createDir() (rundir.Dir, error) {
	dir := rundir.Dir(o.out)
	if o.out == "" {
		dir = rundir.Dir(rundir.Default("cases", time.Now()))
	}
	if _, err := os.Stat(dir.File(rundir.Result)); err == nil {
		return "", fmt.Errorf("%s holds a run already: choose another --out", dir)
	}
	return dir, os.MkdirAll(string(dir), 0o755)
}

// print prints the results in the chosen format.
func (o caseRunOptions) print(out io.Writer, dir rundir.Dir, d casereport.Document) error {
	switch o.format.chosen {
	case jsonFormat:
		return casereport.JSON(out, d)
	case markdownFormat:
		return casereport.Markdown(out, d)
	}
	if err := casereport.Table(out, d); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n", dir.File(rundir.Page))
	return err
}

// caseReports are the files that a run of cases writes, one per line.
var caseReports = []struct {
	name  string
	write func(io.Writer, casereport.Document) error
}{
	{rundir.Result, casereport.JSON},
	{rundir.Page, casereport.HTML},
	{rundir.Markdown, casereport.Markdown},
	{rundir.JUnit, casereport.JUnit},
}

func writeCaseReports(dir rundir.Dir, d casereport.Document) error {
	for _, r := range caseReports {
		file, err := os.Create(dir.File(r.name))
		if err != nil {
			return err
		}
		if err := errors.Join(r.write(file, d), file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// caseOutcome returns the outcome of a run of cases. err says why some could not be run.
func caseOutcome(ctx context.Context, err error, counts casereport.Counts) judge.Outcome {
	switch {
	case ctx.Err() != nil:
		return judge.Interrupted
	case counts[behave.Failed]+counts[behave.NoLonger] > 0:
		return judge.Failed
	case err != nil:
		return judge.NotRun
	case counts[behave.Void] > 0:
		return judge.Void
	}
	return judge.Passed
}

// loadCases reads the cases in files and folders. The error joins the problems of all files.
func loadCases(paths []string) ([]*behave.Case, error) {
	files, err := scenarioFiles(paths)
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	known := knownCaseNames()
	var all []*behave.Case
	var wrong []error
	for _, file := range slices.Compact(files) {
		c, err := behave.Load(file, known)
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		all = append(all, c)
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no case in %s", strings.Join(paths, ", "))
	}
	return all, repeatedNames(all)
}

// repeatedNames returns an error if two cases have the same name: it names their results, and their
// objects in the cluster.
func repeatedNames(cases []*behave.Case) error {
	files := map[string]string{}
	var wrong []error
	for _, c := range cases {
		namespace := caserun.Namespace(c)
		if before, taken := files[namespace]; taken {
			wrong = append(wrong, fmt.Errorf("%s: the name %s is too close to that of %s: both have the namespace %s", c.File, c.Name, filepath.ToSlash(before), namespace))
		}
		files[namespace] = c.File
	}
	return errors.Join(wrong...)
}
