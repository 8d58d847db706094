package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// compareOptions contains the flags of compare: which figures are compared, when a difference
// matters, and the output format.
type compareOptions struct {
	format  format
	figures []string
	alpha   float64
	floor   float64 // in percent
	least   time.Duration
	budgets map[string]string
}

// comparisonFormats contains a function per output format that writes a comparison.
var comparisonFormats = map[string]func(io.Writer, compare.Comparison) error{
	textFormat: compare.Table, markdownFormat: compare.Markdown, jsonFormat: compare.JSON,
}

// comparisonOutcomes maps the outcomes of a comparison to those of a trial, which have exit codes.
var comparisonOutcomes = map[compare.Outcome]judge.Outcome{
	compare.NoneWorse: judge.Passed,
	compare.SomeWorse: judge.Failed,
	compare.Void:      judge.Void,
	compare.CannotSay: judge.Void,
}

func (o *compareOptions) add(command *cobra.Command) {
	o.addJudgement(command, 0.05)
	o.format.add(command, markdownFormat)
}

// addJudgement adds all flags except that of the format, with a default of --alpha.
func (o *compareOptions) addJudgement(command *cobra.Command, alpha float64) {
	flags := command.Flags()
	flags.StringSliceVar(&o.figures, "figure", nil, "figures to compare, such as reloads,requests.* (default: all; windtunnel list figures)")
	flags.Float64Var(&o.alpha, "alpha", alpha, "probability of a false alarm, over all figures that vary")
	flags.Float64Var(&o.floor, "floor", 10, "smallest rise that matters, in percent, for figures that vary")
	flags.DurationVar(&o.least, "floor-time", 0, "smallest rise that matters for a time (default: the figure's own)")
	flags.StringToStringVar(&o.budgets, "budget", nil, "FIGURE=AMOUNT or FIGURE=NUMBER%: how much it may rise (such as reloads=0,posts.bytes=5%,requests.latency.p50=1ms,memory.peakRSS=10Mi)")
	completes(command, "figure", figureNames("")...)
	completesAs(command, "budget", cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, figureNames("=")...)
}

// options returns the options from the flags. Flags that are not given default to the scenario's
// values.
func (o *compareOptions) options(s *scenario.Scenario) (compare.Options, error) {
	if !(o.alpha > 0 && o.alpha < 1) {
		return compare.Options{}, fmt.Errorf("--alpha=%v: want a number between 0 and 1", o.alpha)
	}
	if !(o.floor > 0) || math.IsInf(o.floor, 0) {
		return compare.Options{}, fmt.Errorf("--floor=%v: want a percentage above 0", o.floor)
	}
	if err := notNegative("floor-time", o.least); err != nil {
		return compare.Options{}, err
	}
	if _, err := compare.Select(o.figures); err != nil {
		return compare.Options{}, fmt.Errorf("--figure: %w", err)
	}
	figures := o.figures
	if len(figures) == 0 {
		figures = s.Compare.Figures
	}
	budgets := map[string]measure.Budget{}
	for name, text := range scenario.Over(s.Compare.Budgets, o.budgets) {
		budget, err := compare.ParseBudget(name, text)
		if err != nil {
			return compare.Options{}, fmt.Errorf("--budget: %w", err)
		}
		budgets[name] = budget
	}
	return compare.Options{Figures: figures, Alpha: o.alpha, Relative: o.floor / 100, Absolute: o.least.Seconds(), Budgets: budgets}, nil
}

func compareCommand() *cobra.Command {
	var o compareOptions
	command := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Decide whether some runs are worse than others",
		Long: `Decide whether some runs are worse than others.

BASE and HEAD are each the folder of a run, or a folder of such folders. They
must be of the same scenario and seed. The comparison covers the cost of the
scenario's changes and traffic (windtunnel list figures), not the content of
responses. For counts (reloads, failed requests, sockets …), the worst runs of both
sides are compared with a budget. Times, memory and other figures that vary are
worse if a test says so (Mann-Whitney, Holm's correction) and they rise by more than
a budget.
Exit codes: 0 nothing is worse, and there were enough runs to show a difference;
1 something is worse; 2 the runs cannot be compared; 3 there is no result: a run is
void, base differs from itself (A/A), or there are too few runs to show a difference
of some figure. With --figure, only the named figures count. The field compare of
the scenario sets the figures and budgets that the flags do not name.`,
		Args: arguments("BASE", "HEAD"),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := comparedScenario(args[0])
			if err != nil {
				return err
			}
			options, err := o.options(s)
			if err != nil {
				return err
			}
			return compareFolders(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], args[1], o.format, options)
		},
	}
	o.add(command)
	return command
}

// compareFolders compares the runs in two folders and prints the comparison.
func compareFolders(stdout, stderr io.Writer, base, head string, format format, o compare.Options) error {
	before, err := rundir.Results(base)
	if err != nil {
		return err
	}
	after, err := rundir.Results(head)
	if err != nil {
		return err
	}
	c, err := compare.Runs(before, after, o)
	if errors.As(err, new(compare.VoidError)) {
		fmt.Fprintln(stderr, "windtunnel:", err)
		return exitWith(judge.Void)
	}
	if err != nil {
		return err
	}
	if err := comparisonFormats[format.chosen](stdout, c); err != nil {
		return err
	}
	return exitWith(comparisonOutcomes[c.Outcome])
}

// comparedScenario returns the scenario of the first run in a folder. It returns an empty scenario
// if the folder contains only a result.
func comparedScenario(path string) (*scenario.Scenario, error) {
	dirs, err := rundir.Find(path)
	if err != nil {
		return nil, err
	}
	file := dirs[0].File(rundir.Scenario)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return &scenario.Scenario{}, nil
	}
	return loadForAnyController(file)
}
