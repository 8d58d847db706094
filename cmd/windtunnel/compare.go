package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// compareOptions say when a difference matters and how it is shown.
type compareOptions struct {
	format  string
	alpha   float64
	floor   float64 // in per cent
	least   time.Duration
	budgets map[string]string
}

var comparisonFormats = map[string]func(io.Writer, compare.Comparison) error{
	"table": compare.Table, "markdown": compare.Markdown, "json": compare.JSON,
}

func (o *compareOptions) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&o.format, "format", "table", "table, markdown or json")
	flags.Float64Var(&o.alpha, "alpha", 0.05, "chance of a false alarm over all times together")
	flags.Float64Var(&o.floor, "floor", 10, "least change of a time that matters, in per cent")
	flags.DurationVar(&o.least, "floor-time", 5*time.Millisecond, "least change of a time that matters")
	flags.StringToStringVar(&o.budgets, "budget", nil, "FIGURE=NUMBER or FIGURE=NUMBER%: by how much a count may rise (such as reloads=0,posts.bytes=5%)")
}

func (o *compareOptions) options() (compare.Options, error) {
	if comparisonFormats[o.format] == nil {
		return compare.Options{}, fmt.Errorf("--format=%s: want table, markdown or json", o.format)
	}
	if o.alpha <= 0 || o.alpha >= 1 {
		return compare.Options{}, fmt.Errorf("--alpha=%v: want a number between 0 and 1", o.alpha)
	}
	if o.floor <= 0 || o.least <= 0 {
		return compare.Options{}, errors.New("--floor and --floor-time: want more than 0")
	}
	budgets := map[string]compare.Budget{}
	for name, text := range o.budgets {
		budget, err := readBudget(name, text)
		if err != nil {
			return compare.Options{}, err
		}
		budgets[name] = budget
	}
	return compare.Options{Alpha: o.alpha, Relative: o.floor / 100, Absolute: o.least.Seconds(), Budgets: budgets}, nil
}

func readBudget(name, text string) (compare.Budget, error) {
	var counts []string
	for _, figure := range measure.Figures() {
		if figure.Kind == measure.Count {
			counts = append(counts, figure.Name)
		}
	}
	if !slices.Contains(counts, name) {
		return compare.Budget{}, fmt.Errorf("--budget: there is no count %q; there are %s", name, strings.Join(counts, ", "))
	}
	digits, share := strings.CutSuffix(text, "%")
	number, err := strconv.ParseFloat(digits, 64)
	if err != nil || number < 0 {
		return compare.Budget{}, fmt.Errorf("--budget %s=%s: want a number of 0 or more, or one with %%", name, text)
	}
	if share {
		return compare.Budget{Rel: number / 100}, nil
	}
	return compare.Budget{More: number}, nil
}

func compareCommand() *cobra.Command {
	var o compareOptions
	command := &cobra.Command{
		Use:   "compare BASE HEAD",
		Short: "Say whether runs are worse than others",
		Long: `Say whether runs are worse than others.

BASE and HEAD are each the folder of a run, or a folder of such folders. They
must be of one scenario and seed. Counts (reloads, POSTs, failed requests …) are
held against a budget, the worst run of each side; times and memory are tested
(Mann-Whitney, Holm's correction) and must differ by a floor as well.
Exit code: 0 nothing is worse, 1 something is, 2 the runs cannot be compared, 3
a run is void, or base differs from itself (A/A), so that the times say nothing.`,
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			options, err := o.options()
			if err != nil {
				return err
			}
			return compareFolders(cmd.OutOrStdout(), cmd.ErrOrStderr(), args[0], args[1], o.format, options)
		},
	}
	o.add(command)
	return command
}

func compareFolders(stdout, stderr io.Writer, base, head, format string, o compare.Options) error {
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
	if err := comparisonFormats[format](stdout, c); err != nil {
		return err
	}
	switch {
	case slices.ContainsFunc(c.Worse(), func(r compare.Row) bool { return r.Kind == measure.Count }):
		return verdict(exitFailed)
	case c.Void():
		return verdict(exitVoid)
	case len(c.Worse()) > 0:
		return verdict(exitFailed)
	}
	return nil
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
