package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/scenario"
)

type verifyOptions struct {
	tier       string
	out        string
	controller string
	place      place
	plainOnly  bool
	length     time.Duration
	printed    form
}

func verifyCommand() *cobra.Command {
	var o verifyOptions
	command := &cobra.Command{
		Use:   "verify [SCENARIO.yaml | FOLDER]…",
		Short: "Run scenarios, and prove of each that it can fail",
		Long: `Run scenarios, and prove of each that it can fail.

Each scenario is run as it is, and must hold; and with the mutation of its
control, under which the expectations that the control names must not hold.
Without arguments: all of the folder scenarios.
Exit code: 0 all as it must be, 1 a scenario fails or a control stays green, 2
a scenario could not be run, 3 a run was void.`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.tier != "" && !slices.Contains(scenario.Tiers, o.tier) {
				return fmt.Errorf("--tier=%s: want one of %s", o.tier, strings.Join(scenario.Tiers, ", "))
			}
			if len(args) == 0 {
				args = []string{scenarioFolder}
			}
			return verify(cmd.Context(), args, o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().StringVar(&o.tier, "tier", "", "only scenarios of this tier: pr, nightly or soak")
	command.Flags().StringVarP(&o.out, "out", "o", "", "folder for the runs (default runs/verify-TIME)")
	command.Flags().StringVar(&o.controller, "controller", "", "the bundled controller's binary (default: beside this one)")
	addLength(command.Flags(), &o.length)
	o.place.add(command)
	command.Flags().BoolVar(&o.plainOnly, "skip-controls", false, "do not run the controls")
	o.printed.add(command)
	completes(command, "tier", scenario.Tiers...)
	return command
}

// trial is one run of verify and what came of it.
type trial struct {
	scenario  *scenario.Scenario
	control   bool
	stretched bool // the scenario is not as long as its file says
	dir       string
	code      int // of exit codes
	note      string
}

func verify(ctx context.Context, paths []string, o verifyOptions, stdout, stderr io.Writer) error {
	all, err := scenarios(paths, o.tier)
	if err != nil {
		return err
	}
	for _, s := range all {
		warn(stderr, s)
	}
	for i := range all {
		if all[i], err = ofLength(all[i], o.length); err != nil {
			return err
		}
	}
	where, err := runOptions{controller: o.controller, place: o.place}.driver()
	if err != nil {
		return err
	}
	if o.out == "" {
		o.out = filepath.Join("runs", "verify-"+time.Now().Format("20060102-150405"))
	}
	trials := plan(all, o)
	for i := range trials {
		t := &trials[i]
		fmt.Fprintf(stderr, "run %d of %d: %s\n", i+1, len(trials), t.name())
		t.code, t.note = t.run(ctx, where, stderr)
		if ctx.Err() != nil {
			fmt.Fprintln(stderr, "windtunnel: interrupted; what is left was not run")
			trials = trials[:i+1]
			break
		}
	}
	if err := printTrials(stdout, o.printed, trials); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return verdict(exitCut)
	}
	worst := exitOK
	for _, code := range []int{exitVoid, exitFailed, exitBadInput} {
		if slices.ContainsFunc(trials, func(t trial) bool { return t.code == code }) {
			worst = code
		}
	}
	if worst != exitOK {
		return verdict(worst)
	}
	return nil
}

// scenarios reads the files, and those in the folders, of a tier. Its error holds
// what is wrong with any of them.
func scenarios(paths []string, tier string) ([]*scenario.Scenario, error) {
	files, err := scenarioFiles(paths)
	if err != nil {
		return nil, err
	}
	var all []*scenario.Scenario
	var wrong []error
	for _, name := range files {
		s, err := loadScenario(name)
		if err != nil {
			wrong = append(wrong, err)
		} else if tier == "" || s.Tier == tier {
			all = append(all, s)
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no scenario of tier %q in %s", tier, strings.Join(paths, ", "))
	}
	return all, nil
}

// scenarioFiles are the files that paths name, and the YAML files in the folders
// that they name.
func scenarioFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || name != path && !isYAML(name) {
				return err
			}
			files = append(files, name)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

func isYAML(name string) bool { return filepath.Ext(name) == ".yaml" || filepath.Ext(name) == ".yml" }

// plan is a run of each scenario, and one of its control.
func plan(all []*scenario.Scenario, o verifyOptions) []trial {
	var trials []trial
	for _, s := range all {
		trials = append(trials, trial{scenario: s, stretched: o.length != 0, dir: filepath.Join(o.out, s.Name)})
		if s.Control != nil && !o.plainOnly {
			trials = append(trials, trial{scenario: s, stretched: o.length != 0, control: true, dir: filepath.Join(o.out, s.Name+"-control")})
		}
	}
	return trials
}

func (t *trial) name() string {
	if t.control {
		return t.scenario.Name + ", with its control: " + t.scenario.Control.What
	}
	return t.scenario.Name
}

// run runs the scenario and says what came of it, and why.
func (t *trial) run(ctx context.Context, where driver.Driver, stderr io.Writer) (code int, note string) {
	s := t.scenario
	if t.control {
		s = s.Mutated()
	}
	if err := driver.Fits(where, s); err != nil {
		return exitSkipped, err.Error()
	}
	dir, err := makeRunDir(t.dir, s, t.control || t.stretched)
	if err != nil {
		return exitBadInput, err.Error()
	}
	ran := conduct(ctx, dir, s, runOptions{seed: s.Seed}, where, stderr)
	if errors.Is(ran, fault.ErrNotHere) {
		return exitSkipped, ran.Error()
	}
	if ran != nil && !started(dir) {
		return exitBadInput, ran.Error()
	}
	if err := writeReport(dir, s, form{}, io.Discard); err != nil && !errors.As(err, new(verdict)) {
		return exitBadInput, err.Error()
	}
	result, outcomes, err := readResult(dir)
	if err != nil {
		return exitBadInput, err.Error()
	}
	if t.control {
		if why := unapplied(result); why != "" {
			return exitVoid, "the control was not applied: " + why
		}
		// A mutation may be of the kind that makes the run void, as when all workers
		// are stopped; what must turn red must do so all the same, by its values.
		if outcomes, err = judge(s, result); err != nil {
			return exitBadInput, err.Error()
		}
		code, note := judgeControl(t.scenario.Control, outcomes)
		if ran != nil {
			note += "; the run was cut short: " + ran.Error()
		}
		return code, note
	}
	if ran != nil {
		return exitFailed, ran.Error()
	}
	return judgePlain(result, outcomes)
}

func readResult(dir string) (measure.Result, []report.Outcome, error) {
	file, err := readfile.Open(filepath.Join(dir, resultFile))
	if err != nil {
		return measure.Result{}, nil, err
	}
	defer file.Close()
	return report.ReadJSON(file)
}

// unapplied says which fault of a run struck nothing, or could not be made; empty:
// none. Without a fault an expectation that fails proves nothing about it.
func unapplied(result measure.Result) string {
	for _, s := range result.Subjects {
		for _, f := range s.Struck {
			if f.Of != "" && f.Count == 0 || f.Failed == f.Times {
				return fmt.Sprintf("the fault %s struck nothing of %s", f.Name, s.Name)
			}
		}
	}
	return ""
}

func judgePlain(result measure.Result, outcomes []report.Outcome) (code int, note string) {
	for _, s := range result.Subjects {
		if !s.Valid {
			return exitVoid, fmt.Sprintf("void for %s: %s", s.Name, s.Invalid[0])
		}
	}
	for _, o := range outcomes {
		if !o.OK {
			return exitFailed, fmt.Sprintf("%s: %s, but %s", o.Subject, o.Text, o.Actual)
		}
	}
	return exitOK, plural.Of(len(outcomes), "expectation holds", "expectations hold")
}

// judgeControl wants every expectation that the control names to fail, for at
// least one subject. One that cannot be evaluated proves nothing.
func judgeControl(control *scenario.Control, outcomes []report.Outcome) (code int, note string) {
	var red []string
	for _, text := range control.Fails {
		i := slices.IndexFunc(outcomes, func(o report.Outcome) bool { return o.Text == text && !o.OK && o.Error == "" })
		if i < 0 {
			return exitFailed, fmt.Sprintf("stays green: %s holds under the mutation", text)
		}
		red = append(red, outcomes[i].Actual)
	}
	return exitOK, "turns red: " + strings.Join(red, ", ")
}

// trialWords say what came of a trial, by its exit code.
var trialWords = map[int]string{exitOK: "pass", exitFailed: "FAIL", exitBadInput: "not run", exitVoid: "void", exitSkipped: "skip"}

// kind is which of a scenario's runs it is.
func (t trial) kind() string {
	if t.control {
		return "control"
	}
	return "as it is"
}

func printTrials(out io.Writer, printed form, trials []trial) error {
	if !printed.json() {
		_, err := fmt.Fprintln(out, trialTable(trials))
		return err
	}
	type line struct {
		Scenario string `json:"scenario"`
		Run      string `json:"run"`
		Outcome  string `json:"outcome"`
		Note     string `json:"note"`
		Dir      string `json:"dir"`
	}
	lines := []line{}
	for _, t := range trials {
		lines = append(lines, line{t.scenario.Name, t.kind(), strings.ToLower(trialWords[t.code]), t.note, t.dir})
	}
	return printJSON(out, lines)
}

func trialTable(trials []trial) string {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = 0
	t.AppendHeader(table.Row{"", "scenario", "run", "what came of it"})
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, WidthMax: 90}})
	for _, one := range trials {
		t.AppendRow(table.Row{trialWords[one.code], one.scenario.Name, one.kind(), one.note})
	}
	return t.Render()
}
