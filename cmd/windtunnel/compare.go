package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// compareOptions say what is compared, when a difference matters and how it is shown.
type compareOptions struct {
	form    form
	figures []string
	alpha   float64
	floor   float64 // in per cent
	least   time.Duration
	budgets map[string]string
}

var comparisonForms = map[string]func(io.Writer, compare.Comparison) error{
	textForm: compare.Table, markdownForm: compare.Markdown, jsonForm: compare.JSON,
}

func (o *compareOptions) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringSliceVar(&o.figures, "figure", nil, "figures to compare, such as reloads,requests.* (default: all; windtunnel list figures)")
	flags.Float64Var(&o.alpha, "alpha", 0.05, "chance of a false alarm over all figures that vary together")
	flags.Float64Var(&o.floor, "floor", 10, "least rise that matters of a figure that varies, in per cent")
	flags.DurationVar(&o.least, "floor-time", 0, "least rise of a time that matters (default: each figure's own)")
	flags.StringToStringVar(&o.budgets, "budget", nil, "FIGURE=AMOUNT or FIGURE=NUMBER%: by how much it may rise (such as reloads=0,posts.bytes=5%,requests.latency.p50=1ms,memory.peakRSS=10Mi)")
	o.form.add(command, markdownForm)
	completes(command, "figure", figureNames("")...)
	completesAs(command, "budget", cobra.ShellCompDirectiveNoFileComp|cobra.ShellCompDirectiveNoSpace, figureNames("=")...)
}

func (o *compareOptions) options() (compare.Options, error) {
	if !(o.alpha > 0 && o.alpha < 1) {
		return compare.Options{}, fmt.Errorf("--alpha=%v: want a number between 0 and 1", o.alpha)
	}
	if !(o.floor > 0) {
		return compare.Options{}, fmt.Errorf("--floor=%v: want more than 0", o.floor)
	}
	if o.least < 0 {
		return compare.Options{}, fmt.Errorf("--floor-time=%v: want more than 0", o.least)
	}
	if _, err := compare.Select(o.figures); err != nil {
		return compare.Options{}, fmt.Errorf("--figure: %w", err)
	}
	budgets := map[string]compare.Budget{}
	for name, text := range o.budgets {
		budget, err := readBudget(name, text)
		if err != nil {
			return compare.Options{}, err
		}
		budgets[name] = budget
	}
	return compare.Options{Figures: o.figures, Alpha: o.alpha, Relative: o.floor / 100, Absolute: o.least.Seconds(), Budgets: budgets}, nil
}

// readBudget reads an amount in the unit of the figure, or a share of base.
func readBudget(name, text string) (compare.Budget, error) {
	figures := measure.Figures()
	i := slices.IndexFunc(figures, func(f measure.Figure) bool { return f.Name == name })
	if i < 0 {
		return compare.Budget{}, fmt.Errorf("--budget: %w", compare.UnknownFigure(name))
	}
	if digits, share := strings.CutSuffix(text, "%"); share {
		number, err := strconv.ParseFloat(digits, 64)
		if err != nil || !notNegative(number) {
			return compare.Budget{}, fmt.Errorf("--budget %s=%s: want a number of 0 or more before the %%", name, text)
		}
		return compare.Budget{Rel: number / 100}, nil
	}
	more, example := readAmount(figures[i].Kind, text)
	if example != "" {
		return compare.Budget{}, fmt.Errorf("--budget %s=%s: want 0 or more, such as %s, or a number with %%", name, text, example)
	}
	return compare.Budget{More: more}, nil
}

// readAmount reads what figures of a kind are measured in: seconds, bytes or
// plain numbers. Where it is none of 0 or more, it says what one looks like.
func readAmount(kind measure.Kind, text string) (amount float64, example string) {
	var err error
	switch kind {
	case measure.Time:
		var d time.Duration
		d, err = time.ParseDuration(text)
		amount, example = d.Seconds(), "5ms"
	case measure.Bytes:
		var q resource.Quantity
		q, err = resource.ParseQuantity(text)
		amount, example = q.AsApproximateFloat64(), "10Mi"
	default:
		amount, err = strconv.ParseFloat(text, 64)
		example = "3"
	}
	if err != nil || !notNegative(amount) {
		return 0, example
	}
	return amount, ""
}

// notNegative is false of what is no number, too.
func notNegative(x float64) bool { return x >= 0 && !math.IsInf(x, 1) }

func compareCommand() *cobra.Command {
	var o compareOptions
	command := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Say whether runs are worse than others",
		Long: `Say whether runs are worse than others.

BASE and HEAD are each the folder of a run, or a folder of such folders. They
must be of one scenario and seed. What is compared is what the scenario's changes
and traffic cost (windtunnel list figures), not what answers hold. Counts
(reloads, failed requests, sockets …) are held against a budget, the worst run of
each side; times, memory and other figures that vary are tested (Mann-Whitney,
Holm's correction) and must rise by more than a budget as well.
Exit code: 0 nothing is worse, and a difference would have had a chance to show;
1 something is worse; 2 the runs cannot be compared; 3 nothing can be said: a run
is void, base differs from itself (A/A), or of some figure the runs are too few to
tell any difference from chance. With --figure, only what is named counts.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := o.options()
			if err != nil {
				return err
			}
			return compareFolders(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], args[1], o.form.chosen, options)
		},
	}
	o.add(command)
	return command
}

func compareFolders(stdout, stderr io.Writer, base, head, form string, o compare.Options) error {
	before, err := readRuns(base)
	if err != nil {
		return err
	}
	after, err := readRuns(head)
	if err != nil {
		return err
	}
	c, err := compare.Runs(before, after, o)
	if errors.As(err, new(compare.VoidError)) {
		fmt.Fprintln(stderr, "windtunnel:", err)
		return verdict(exitVoid)
	}
	if err != nil {
		return err
	}
	if err := comparisonForms[form](stdout, c); err != nil {
		return err
	}
	switch c.Outcome {
	case compare.NoneWorse:
		return nil
	case compare.SomeWorse:
		return verdict(exitFailed)
	}
	return verdict(exitVoid)
}

// readRuns reads the result of a run's folder, or of all run folders in it, in
// the order in which they were made.
func readRuns(dir string) ([]measure.Result, error) {
	files := []string{filepath.Join(dir, resultFile)}
	if _, err := os.Stat(files[0]); err != nil {
		if files, err = filepath.Glob(filepath.Join(dir, "*", resultFile)); err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no %s, nor does a folder in it: is it a run's folder?", dir, resultFile)
	}
	var runs []measure.Result
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		result, _, err := report.ReadJSON(file)
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		runs = append(runs, result)
	}
	slices.SortStableFunc(runs, func(a, b measure.Result) int { return a.Run.Start.Compare(b.Run.Start) })
	return runs, nil
}
