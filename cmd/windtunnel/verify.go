package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// verifyOptions contains the flags of verify.
type verifyOptions struct {
	tier         string
	out          string
	seed         seedFlag
	subjects     []string
	driver       driverFlags
	progress     progressFlags
	skipControls bool
	length       time.Duration
	format       format
}

func verifyCommand() *cobra.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:   "verify [SCENARIO.yaml | FOLDER]…",
		Short: "Run scenarios, and prove that each one can fail",
		Long: `Run scenarios, and prove that each one can fail.

Each scenario is run twice: unchanged, when its expectations must hold, and with the
mutation of its control, when the expectations that the control names must fail.
Without arguments, runs all scenarios in the folder scenarios. With --subject, they
run on another controller. What does not apply to it is n/a: scenarios about features
that it lacks, and controls that change settings that it does not have.
Exit codes: 0 every run had the required outcome or does not apply, 1 a scenario
failed or the named expectations held under a control, 2 a scenario could not be run or
has no control, 3 a run was void.`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.tier != "" && !slices.Contains(scenario.Tiers, o.tier) {
				return fmt.Errorf("--tier=%s: want one of %s", o.tier, strings.Join(scenario.Tiers, ", "))
			}
			if len(args) == 0 {
				args = []string{scenarioFolder}
			}
			return o.verify(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.tier, "tier", "", "only scenarios of this tier: pr, nightly or soak")
	flags.StringVarP(&o.out, "out", "o", "", "folder for the runs (default runs/verify-TIME)")
	o.seed.add(flags)
	addLength(flags, &o.length)
	addSubjects(flags, &o.subjects)
	o.driver.add(command)
	o.driver.addController(flags)
	o.progress.add(flags)
	flags.BoolVar(&o.skipControls, "skip-controls", false, "do not run the controls")
	o.format.add(command)
	completes(command, "tier", scenario.Tiers...)
	return command
}

func (o verifyOptions) verify(ctx context.Context, paths []string, stdout, stderr io.Writer) error {
	all, err := o.prepare(paths, stderr)
	if err != nil {
		return err
	}
	o.driver = o.driver.forSubjectsOf(all...)
	if err := o.driver.checkBundled(); err != nil {
		return err
	}
	d, err := o.driver.open(ctx)
	if err != nil {
		return err
	}
	removeEmpty, err := makeOut(&o.out, "verify")
	if err != nil {
		return err
	}
	defer removeEmpty()
	trials, err := trial.Plan(all, !o.skipControls, o.out, trial.Trial{
		Rewritten: o.length != 0 || len(o.subjects) > 0, Driver: d, Watch: o.progress.show(stderr),
	})
	if err != nil {
		return err
	}
	ended, outcome := trial.Each(ctx, trials, func(i int) {
		fmt.Fprintf(stderr, "run %d of %d: %s\n", i+1, len(trials), trialName(trials[i]))
	})
	if outcome == judge.Interrupted {
		fmt.Fprintln(stderr, "windtunnel: interrupted; the remaining scenarios were not run")
	}
	var rows []verifyRow
	for i, e := range ended {
		rows = append(rows, verifyRowOf(trials[i], e))
	}
	if err := printVerified(stdout, o.format, rows); err != nil {
		return err
	}
	return exitWith(outcome)
}

// prepare reads the scenarios, with the subjects and the length of the command line.
func (o verifyOptions) prepare(paths []string, stderr io.Writer) ([]*scenario.Scenario, error) {
	subjects, err := parseSubjects(o.subjects, !o.driver.isLocal())
	if err != nil {
		return nil, err
	}
	all, err := scenarios(paths, o.tier, loaderFor(len(subjects) > 0 || o.driver.replacesController()))
	if err != nil {
		return nil, err
	}
	var unproved []error
	for i, s := range all {
		warn(stderr, s)
		s.Seed = o.seed.or(s.Seed)
		if !o.skipControls {
			unproved = append(unproved, unprovable(s))
		}
		if s, err = replaceSubjects(s, subjects, stderr); err != nil {
			return nil, err
		}
		if all[i], err = withLength(s, o.length); err != nil {
			return nil, err
		}
	}
	return all, errors.Join(unproved...)
}

// unprovable returns an error if nothing proves that a scenario can fail.
func unprovable(s *scenario.Scenario) error {
	expects := len(s.Expect) > 0 || slices.ContainsFunc(s.Subjects, func(one scenario.Subject) bool { return len(one.Expect) > 0 })
	why := "it has no control: add one"
	switch {
	case s.Control != nil:
		return nil
	case !expects:
		why = "it expects nothing: add expect and control"
	}
	return fmt.Errorf("%s: nothing proves that it can fail, because %s (docs/scenarios.md), or run it with --skip-controls", s.File, why)
}

func trialName(t trial.Trial) string {
	if t.Control {
		return t.Scenario.Name + ", with its control: " + t.Scenario.Control.What
	}
	return t.Scenario.Name
}

// outcomeWords maps the outcomes of trials to words for the table.
var outcomeWords = map[judge.Outcome]string{
	judge.Passed:      "pass",
	judge.Failed:      "FAIL",
	judge.NotRun:      "not run",
	judge.Void:        "void",
	judge.Skipped:     "skip",
	judge.Interrupted: "interrupted",

	judge.Inapplicable: "n/a",
}

// verifyRow is a row in the table of verify.
type verifyRow struct {
	Scenario string `json:"scenario"`
	Run      string `json:"run"`     // "as it is" or "control"
	Outcome  string `json:"outcome"` // in lower case
	Note     string `json:"note"`
	Dir      string `json:"dir"`
	word     string
}

func verifyRowOf(t trial.Trial, e trial.Result) verifyRow {
	word := outcomeWords[e.Outcome]
	v := verifyRow{Scenario: t.Scenario.Name, Run: "as it is", Outcome: strings.ToLower(word), Note: e.Note(), Dir: t.Dir, word: word}
	if t.Control {
		v.Run = "control"
	}
	return v
}

func printVerified(out io.Writer, format format, rows []verifyRow) error {
	if format.json() {
		return printJSON(out, append([]verifyRow{}, rows...)) // never null
	}
	t := newTable()
	t.AppendHeader(table.Row{"", "scenario", "run", "result"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, WidthMax: 90}})
	for _, row := range rows {
		t.AppendRow(table.Row{row.word, row.Scenario, row.Run, row.Note})
	}
	_, err := fmt.Fprintln(out, t.Render())
	return err
}
