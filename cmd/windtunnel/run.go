package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
	"windtunnel.dev/sim/watch"
)

// runOptions contains the flags of run.
type runOptions struct {
	out      string
	seed     seedFlag
	subjects []string
	driver   driverFlags
	progress progressFlags
	format   format
	length   time.Duration
	serve    string // address of the page that shows the run; empty: none
}

func runCommand() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:   "run SCENARIO.yaml",
		Short: "Run a scenario and report what it cost",
		Long: `Run a scenario and report what it cost.

Writes a folder with the event log (events.jsonl), the measurements
(result.json), the report as a page (report.html), for pull requests (report.md),
for CI systems (junit.xml) and for benchstat (bench.txt), and the logs of the
subjects.
Exit codes: 0 all expectations hold, 1 one does not or the subject died, 2 the
scenario could not be run, 3 the run is void (the report says why), 4 skipped because
the driver does not support what the scenario needs, 5 measured, but no expectation
applies to the subject, 130 interrupted (the report covers the run until then).`,
		Args:              arguments("SCENARIO.yaml"),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/SCENARIO-TIME)")
	o.seed.add(flags)
	addLength(flags, &o.length)
	addServe(flags, &o.serve)
	addSubjects(flags, &o.subjects)
	o.driver.add(command)
	o.driver.addController(flags)
	o.driver.addCluster(flags)
	o.driver.addPortBase(flags)
	o.progress.add(flags)
	o.format.add(command, markdownFormat)
	return command
}

func (o runOptions) run(ctx context.Context, path string, stdout, stderr io.Writer) error {
	subjects, err := parseSubjects(o.subjects, !o.driver.isLocal())
	if err != nil {
		return err
	}
	s, err := loaderFor(len(subjects) > 0 || o.driver.replacesController())(path)
	if err != nil {
		return err
	}
	warn(stderr, s)
	if s, err = replaceSubjects(s, subjects, stderr); err != nil {
		return err
	}
	if s, err = withLength(s, o.length); err != nil {
		return err
	}
	one := runSpec{scenario: s, rewritten: o.length != 0 || len(subjects) > 0, seed: o.seed.or(s.Seed), out: o.out, name: s.Name, serve: o.serve, progress: o.progress}
	_, err = runOne(ctx, one, o.driver, o.format, stdout, stderr)
	return err
}

// runSpec describes a run that run or replay makes.
type runSpec struct {
	scenario  *scenario.Scenario
	rewritten bool // the scenario differs from its file
	seed      uint64
	out       string // the folder; empty: one derived from name
	name      string
	serve     string // the address of a page that shows the run; empty: none
	progress  progressFlags
}

// runOne makes a run, prints its report, and returns its folder; empty if there is none. The error
// contains the outcome.
func runOne(ctx context.Context, r runSpec, where driverFlags, format format, stdout, stderr io.Writer) (rundir.Dir, error) {
	where = where.forSubjectsOf(r.scenario)
	if err := where.checkBundled(); err != nil {
		return "", err
	}
	d, err := where.open(ctx)
	if err != nil {
		return "", err
	}
	removeEmpty, err := makeOut(&r.out, r.name)
	if err != nil {
		return "", err
	}
	defer removeEmpty()
	run := watch.Of(r.scenario)
	over := func(trial.Result) {}
	if r.serve != "" {
		if ctx, over, err = serve(ctx, r, run, stderr); err != nil {
			return "", err
		}
	}
	ended := trial.Do(ctx, trial.Trial{
		Scenario: r.scenario, Rewritten: r.rewritten, Seed: r.seed,
		Driver: d, Dir: r.out, Watch: r.progress.showRun(run, stderr),
	})
	over(ended)
	return ended.Dir, printResult(ended, format, stdout, stderr)
}

// printResult prints the report of a trial, or why there is none. The error contains the outcome.
func printResult(ended trial.Result, format format, stdout, stderr io.Writer) error {
	if ended.Cut != nil && ended.Outcome != judge.Interrupted {
		fmt.Fprintln(stderr, "windtunnel: the run was cut short:", ended.Cut)
	}
	switch ended.Outcome {
	case judge.NotRun:
		return ended.Err
	case judge.Skipped:
		fmt.Fprintln(stderr, "windtunnel: skipped:", ended.Err)
		return exitWith(ended.Outcome)
	}
	if err := printMeasured(stdout, ended.Dir, format, ended.Measured); err != nil {
		return err
	}
	switch ended.Outcome {
	case judge.Inapplicable:
		fmt.Fprintln(stderr, "windtunnel: measured, but not judged:", ended.Note())
	case judge.Interrupted:
		fmt.Fprintln(stderr, "windtunnel: interrupted; the report covers the run until now")
	}
	return exitWith(ended.Outcome)
}
