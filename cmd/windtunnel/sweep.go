package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"al.essio.dev/pkg/shellescape"
	"github.com/spf13/cobra"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/sweep"
	"windtunnel.dev/sim/sweep/report"
	sweeprun "windtunnel.dev/sim/sweep/run"
)

// sweepOptions contains the flags of sweep.
type sweepOptions struct {
	vary       []string
	oneAtATime bool
	fraction   string
	rounds     int
	figures    []string
	drain      bool
	out        string
	resume     bool
	seed       seedFlag
	subjects   []string
	length     time.Duration
	driver     driverFlags
	progress   progressFlags
	format     format
}

func sweepCommand() *cobra.Command {
	var o sweepOptions
	command := &cobra.Command{
		Use:   "sweep SCENARIO.yaml --vary PATH=V1,V2,… [--vary …]",
		Short: "Run a scenario with varied values and report what each of them costs",
		Long: `Run a scenario with varied values and report what each of them costs.

PATH is the path of a value in the scenario's spec, such as population.services,
config.worker-shutdown-timeout, subjects.0.flags.sync-rate-limit or traffic.0.rate. All
combinations of the values are checked before the first one runs. Writes a folder with
the folder of each run, as windtunnel run makes it, and the table of all combinations
(result.json, report.md, and report.html, which has plots as well). A void run is repeated
at most twice; void runs are kept in OUT/void. --resume makes the missing runs.
Exit codes: 0 all combinations are measured, whether or not expectations hold; 2 the
sweep could not be made; 3 a run stayed void; 4 the driver does not support what the
scenario needs; 130 interrupted.`,
		Args:              arguments("SCENARIO.yaml"),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.sweep(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringArrayVar(&o.vary, "vary", nil, "PATH=V1,V2,…: a value of the scenario's spec, and the values that it takes in turn; several values are combined")
	flags.BoolVar(&o.oneAtATime, "one-at-a-time", false, "vary one value at a time, while the others keep those of the scenario (default: all combinations)")
	flags.StringVar(&o.fraction, "fraction", "", "1/2, 1/4, 1/8 …: run only this part of the combinations of 3 to 11 factors with two values each; the report says which effects it cannot tell apart")
	flags.IntVar(&o.rounds, "rounds", 1, "runs of each combination")
	flags.StringSliceVar(&o.figures, "figure", nil, "NAME,…: figures of windtunnel list figures, numbers such as converge.way.sync.p50 and lanes.http.failed, or ratios such as requests.failed/reloads (default: reloads, convergence and its parts, failures, generations, memory)")
	renamed(flags, "figures", "figure")
	completes(command, "figure", figureNames("")...)
	flags.BoolVar(&o.drain, "drain-curves", false, "also report how many connections the workers that drain still hold, by the seconds since the reload")
	flags.StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/SCENARIO-sweep-TIME)")
	flags.BoolVar(&o.resume, "resume", false, "continue the sweep in the folder of --out: keep its finished runs")
	o.seed.add(flags)
	addLength(flags, &o.length)
	addSubjects(flags, &o.subjects)
	o.driver.add(command)
	o.driver.addController(flags)
	o.driver.addPortBase(flags)
	o.progress.add(flags)
	o.format.add(command, markdownFormat)
	return command
}

func (o sweepOptions) sweep(ctx context.Context, path string, stdout, stderr io.Writer) error {
	switch {
	case o.rounds < 1:
		return fmt.Errorf("--rounds=%d: want at least one run of each combination", o.rounds)
	case o.resume && o.out == "":
		return errors.New("--resume needs the folder of the sweep: name it with --out")
	}
	design, planned, figures, err := o.plan(path, stderr)
	if err != nil {
		return err
	}
	var all []*scenario.Scenario
	for _, p := range planned {
		all = append(all, p.Scenario)
	}
	o.driver = o.driver.forSubjectsOf(all...)
	if err := o.driver.checkBundled(); err != nil {
		return err
	}
	d, err := o.driver.open(ctx)
	if err != nil {
		return err
	}
	if err := checkPlanned(d, planned, design.Seed, stderr); err != nil {
		return err
	}
	removeEmpty, err := makeOut(&o.out, planned[0].Scenario.Name+"-sweep")
	if err != nil {
		return err
	}
	defer removeEmpty()
	doc, outcome, err := sweeprun.Sweep{
		Design: design, Planned: planned, Figures: figures, Drain: o.drain, Driver: d,
		Out: o.out, Resume: o.resume, Say: stderr, Watch: o.progress.show(stderr),
	}.Do(ctx)
	if outcome == judge.NotRun && len(doc.Runs) == 0 {
		return err
	}
	if err := o.print(doc, outcome, err, stdout, stderr); err != nil {
		return err
	}
	return exitWith(outcome)
}

// plan returns the combinations of the flags, and the figures to show.
func (o sweepOptions) plan(path string, stderr io.Writer) (design sweep.Design, planned []sweep.Planned, figures []measure.Figure, err error) {
	design = sweep.Design{OneAtATime: o.oneAtATime, Rounds: o.rounds}
	if o.fraction != "" {
		f, err := sweep.ParseFraction(o.fraction)
		if err != nil {
			return design, nil, nil, fmt.Errorf("--fraction: %w", err)
		}
		design.Fraction = &f
	}
	for _, text := range o.vary {
		f, err := sweep.ParseFactor(text)
		if err != nil {
			return design, nil, nil, fmt.Errorf("--vary %s: %w", text, err)
		}
		design.Factors = append(design.Factors, f)
	}
	load, text, err := o.loader(path, stderr)
	if err != nil {
		return design, nil, nil, err
	}
	own, err := load(text)
	if err != nil {
		return design, nil, nil, err
	}
	warn(stderr, own)
	design.Seed = o.seed.or(own.Seed)
	if planned, err = sweep.Plan(text, &design, load); err != nil {
		return design, nil, nil, err
	}
	if figures, err = sweep.Choose(o.figures, own.Lanes()); err != nil {
		return design, nil, nil, fmt.Errorf("--figure: %w", err)
	}
	return design, planned, figures, nil
}

// loader returns the text of a scenario file, and the function that checks variants of it and applies
// the flags.
func (o sweepOptions) loader(path string, stderr io.Writer) (sweep.Loader, []byte, error) {
	subjects, err := parseSubjects(o.subjects, !o.driver.isLocal())
	if err != nil {
		return nil, nil, err
	}
	text, err := readfile.Read(path, scenario.Largest)
	if err != nil {
		return nil, nil, fmt.Errorf("read scenario: %w", err)
	}
	known := knownNames()
	known.Keys.Other = len(subjects) > 0 || o.driver.replacesController()
	said := stderr
	return func(text []byte) (*scenario.Scenario, error) {
		s, err := scenario.LoadAs(path, text, known)
		if err != nil {
			return nil, err
		}
		if s, err = replaceSubjects(s, subjects, said); err != nil {
			return nil, err
		}
		said = io.Discard // the warnings are the same for all combinations
		return withLength(s, o.length)
	}, text, nil
}

// checkPlanned returns an error if a combination cannot be run.
func checkPlanned(d driver.Driver, planned []sweep.Planned, seed uint64, stderr io.Writer) error {
	for _, p := range planned {
		err := driver.Supports(d, p.Scenario)
		if errors.Is(err, fault.ErrNotHere) {
			fmt.Fprintf(stderr, "windtunnel: skipped: combination %d of %d (%s): %v\n", p.Number, len(planned), p, err)
			return exitWith(judge.Skipped)
		}
		if err == nil {
			err = run.Check(p.Scenario, seed, d)
		}
		if err != nil {
			return fmt.Errorf("combination %d of %d (%s): %w", p.Number, len(planned), p, err)
		}
	}
	return nil
}

// print writes the reports of a sweep, and prints one.
func (o sweepOptions) print(doc sweep.Document, outcome judge.Outcome, failed error, stdout, stderr io.Writer) error {
	files := map[string]func(io.Writer, sweep.Document) error{rundir.Page: report.HTML, rundir.Markdown: report.Markdown}
	if err := writeFiles(o.out, files, doc); err != nil {
		return err
	}
	show := report.Table
	switch o.format.chosen {
	case jsonFormat:
		show = report.JSON
	case markdownFormat:
		show = report.Markdown
	}
	if err := show(stdout, doc); err != nil {
		return err
	}
	if o.format.chosen == textFormat {
		fmt.Fprintf(stdout, "\n%s\n", rundir.Dir(o.out).File(rundir.Page))
	}
	switch outcome {
	case judge.Interrupted:
		fmt.Fprintf(stderr, "windtunnel: interrupted; the finished runs are in %s: continue with --resume --out %s\n", o.out, shellescape.Quote(o.out))
	case judge.NotRun, judge.Skipped:
		fmt.Fprintln(stderr, "windtunnel:", failed)
	}
	return nil
}
