package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
	caserun "windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
)

// changesFile is the file that only live runs write.
const changesFile = "changes.json"

// caseFolder is the default folder for cases.
const caseFolder = "cases"

func caseCommand() *cobra.Command {
	command := &cobra.Command{
		Use:   "case",
		Short: "Check what a controller does, request by request",
	}
	command.AddCommand(caseRunCommand(), caseRecordCommand(), caseDiffCommand(), caseMutateCommand())
	return command
}

// caseRunOptions contains the flags of case run.
type caseRunOptions struct {
	out       string
	subject   caseSubject
	installed installedFlags
	live      bool
	resume    bool
	progress  progressFlags
	format    format
}

func caseRunCommand() *cobra.Command {
	var o caseRunOptions
	command := &cobra.Command{
		Use:   "run [FILE|FOLDER…]",
		Short: "Run behaviour cases on a controller",
		Long: `Run behaviour cases on a controller (default: all cases in the folder cases).

Prints the expectations that do not hold as FILE:LINE: STEP: the actual and the
expected result; then the outcomes by topic. Cases with the same flags share a
controller, and cases with the same ConfigMap run on it at the same time.
Writes a folder with the results (result.json), a page (report.html), a summary for
pull requests (report.md), a report for CI systems (junit.xml), and the logs of the
controllers.
With --live, each case begins without the annotations and ConfigMap keys that it
covers. Each of them is set on the running controller, and removed again: the answers
must follow within 10 s. The reports then say which changes needed a reload of nginx.
--resume continues a run that was interrupted, or whose cases failed: it keeps the
results in the folder of --out of cases that need no fix and whose files did not change,
and of cases that are not named.

With --kubeconfig and --url, the cases run on an existing controller, in a cluster that
others may use: in their own namespaces and with their own pods, which are removed at the
end, also after Ctrl-C (docs/cases.md).
Exit codes: 0 every case passed, differs as declared, or was skipped, 1 one failed, 2
the cases could not be run, 3 one is void (its line says why), 130 interrupted.`,
		ValidArgsFunction: completeCases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{caseFolder}
			}
			return o.run(cmd.Context(), cmd.Flags(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/cases-TIME)")
	o.subject.add(command)
	o.installed.add(command)
	command.Flags().BoolVar(&o.live, "live", false, "set what each case covers on the running controller, and remove it again, instead of applying the case as a whole")
	command.Flags().BoolVar(&o.resume, "resume", false, "continue the run in the folder of --out: keep the outcomes of cases that passed, differ or were skipped")
	o.progress.add(command.Flags())
	o.format.add(command, markdownFormat)
	return command
}

func (o caseRunOptions) run(ctx context.Context, flags *pflag.FlagSet, paths []string, stdout, stderr io.Writer) error {
	cases, err := loadCases(paths)
	if err != nil {
		return err
	}
	target, err := o.target(ctx, flags, cases, stderr)
	if err != nil {
		return err
	}
	target.live, target.progress = o.live, o.progress
	dir, earlier, err := o.open(&target)
	if err != nil {
		return err
	}
	if o.resume {
		fmt.Fprintf(stderr, "windtunnel: %d of %s left to run\n", len(target.Cases), plural.Of(len(cases), "case"))
	}
	lines := casereport.NewLines(stdout)
	document, err := target.run(ctx, stderr, func(r behave.Result) {
		notApplicable := o.live && r.Outcome == behave.Skipped // only the report shows it
		if o.format.chosen == textFormat && !notApplicable {
			_ = lines.Write(r) // the report below fails if stdout does
		}
	})
	document = earlier.with(document)
	if err := writeCaseReports(dir, document, o.live); err != nil {
		return err
	}
	if ctx.Err() != nil {
		fmt.Fprintf(stderr, "windtunnel: continue with --resume --out %s\n", shellescape.Quote(string(dir)))
	}
	if err := o.print(stdout, dir, document); err != nil {
		return err
	}
	return exitWith(caseOutcome(ctx, err, document.Outcomes))
}

// open returns the folder for the results of a target. When the run continues an earlier one, it
// also returns the results that the run keeps, and removes their cases from the target.
func (o caseRunOptions) open(target *caseTarget) (rundir.Dir, earlierCases, error) {
	switch {
	case o.resume && o.out == "":
		return "", earlierCases{}, errors.New("--resume needs the folder of the run: name it with --out")
	case o.resume:
		dir := rundir.Dir(o.out)
		earlier, err := resumeCases(dir, *target)
		target.Cases, target.Dir = earlier.left(target.Cases), resumedLogs(dir, time.Now())
		return dir, earlier, err
	}
	dir, err := createCaseDir(o.out, "cases")
	target.Dir = string(dir)
	return dir, earlierCases{}, err
}

// createCaseDir creates the folder for results. If out is empty, the folder's name consists of name
// and the time. A folder that already has results is an error.
func createCaseDir(out, name string) (rundir.Dir, error) {
	if _, err := makeOut(&out, name); err != nil {
		return "", err
	}
	dir := rundir.Dir(out)
	if _, err := os.Stat(dir.File(rundir.Result)); err == nil {
		return "", fmt.Errorf("%s holds a run already: choose another --out", dir)
	}
	return dir, nil
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
	live  bool // written by live runs only
}{
	{rundir.Result, casereport.JSON, false},
	{rundir.Page, casereport.HTML, false},
	{rundir.Markdown, casereport.Markdown, false},
	{rundir.JUnit, casereport.JUnit, false},
	{changesFile, casereport.ChangesJSON, true},
}

func writeCaseReports(dir rundir.Dir, d casereport.Document, live bool) error {
	for _, r := range caseReports {
		if r.live && !live {
			continue
		}
		if err := rundir.WriteFile(dir.File(r.name), func(w io.Writer) error { return r.write(w, d) }); err != nil {
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
	return all, caserun.Repeated(all)
}
