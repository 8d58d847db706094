package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/traffic"
)

type runOptions struct {
	out        string
	seed       uint64
	seedSet    bool
	portBase   int
	controller string
	place      place
	printed    form
	length     time.Duration
	rewritten  bool // the scenario is no longer what its file says
}

func runCommand() *cobra.Command {
	var o runOptions
	command := &cobra.Command{
		Use:   "run SCENARIO.yaml",
		Short: "Run a scenario and report what it cost",
		Long: `Run a scenario and report what it cost.

Writes a folder with the event log (events.jsonl), the measurements
(result.json), a page to look at (report.html), the same for a pull request
(report.md), for a CI (junit.xml) and for benchstat (bench.txt), and the logs of
what ran.
Exit code: 0 all expectations hold, 1 one does not or the subject died, 2 the
run could not be done, 3 the run is void (the report says why), 4 skipped, as the
driver cannot do what the scenario asks for, 130 interrupted (the report is of
what was seen).`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.seedSet = cmd.Flags().Changed("seed")
			return runScenario(cmd.Context(), args[0], o, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/SCENARIO-TIME)")
	command.Flags().Uint64Var(&o.seed, "seed", 0, "seed of population, churn and traffic (default: the scenario's)")
	addLength(command.Flags(), &o.length)
	command.Flags().IntVar(&o.portBase, "port-base", 0, "first port of the first subject, ten a subject (default: free ports)")
	o.place.add(command)
	command.Flags().StringVar(&o.controller, "controller", "", "the bundled controller's binary (default: beside this one)")
	o.printed.add(command, markdownForm)
	return command
}

func runScenario(ctx context.Context, path string, o runOptions, stdout, stderr io.Writer) error {
	load := loadScenario
	if o.controller != "" || o.place.image != "" {
		load = loadForeign
	}
	s, err := load(path)
	if err != nil {
		return err
	}
	warn(stderr, s)
	if s, err = ofLength(s, o.length); err != nil {
		return err
	}
	o.rewritten = o.length != 0
	return runLoaded(ctx, s, o, stdout, stderr)
}

// runLoaded runs a scenario that was read, perhaps changed since.
func runLoaded(ctx context.Context, s *scenario.Scenario, o runOptions, stdout, stderr io.Writer) error {
	if !o.seedSet {
		o.seed = s.Seed
	}
	where, err := o.driver()
	if err != nil {
		return err
	}
	if err := driver.Fits(where, s); err != nil {
		return skipped(stderr, err)
	}
	dir, err := makeRunDir(o.out, s, o.rewritten)
	if err != nil {
		return err
	}
	ran := conduct(ctx, dir, s, o, where, stderr)
	if errors.Is(ran, fault.ErrNotHere) {
		return skipped(stderr, ran)
	}
	if ran != nil && ctx.Err() == nil && !started(dir) {
		return ran // nothing was measured
	}
	if ran != nil && ctx.Err() == nil {
		fmt.Fprintln(stderr, "windtunnel: the run was cut short:", ran)
	}
	err = writeReport(dir, s, o.printed, stdout)
	switch {
	case err != nil && !errors.As(err, new(verdict)):
		return err
	case ctx.Err() != nil:
		fmt.Fprintln(stderr, "windtunnel: interrupted; the report is of what was seen")
		return verdict(exitCut)
	case ran != nil:
		return verdict(exitFailed)
	}
	return err
}

func skipped(stderr io.Writer, why error) error {
	fmt.Fprintln(stderr, "windtunnel: skipped:", why)
	return verdict(exitSkipped)
}

// loadScenario reads a scenario that is to be run with the bundled controller.
func loadScenario(path string) (*scenario.Scenario, error) {
	return scenario.Load(path, known())
}

// loadForeign reads a scenario of which the bundled controller may be another one
// than ours, or another version: what that ignores is not known here.
func loadForeign(path string) (*scenario.Scenario, error) {
	known := known()
	known.Keys.Other = true
	return scenario.Load(path, known)
}

// known is what scenarios are checked against.
func known() scenario.Known {
	return scenario.Known{
		Lanes:       traffic.Lanes(),
		StreamLanes: traffic.StreamLanes(),
		Faults:      knownFaults(),
		Keys: scenario.Keys{
			Config:      options.Names(),
			ConfigMap:   simulated.ConfigMap,
			Annotations: knownAnnotations(),
		},
		CheckExpression: func(text string) error {
			_, err := expect.Compile(text)
			return err
		},
		CheckFigure: func(pattern string) error {
			_, err := compare.Select([]string{pattern})
			return err
		},
		CheckBudget: func(figure, amount string) error {
			_, err := readBudget(figure, amount)
			return err
		},
	}
}

// knownAnnotations are those of the bundled controller, with their prefix.
func knownAnnotations() []string {
	names := annotations.Names()
	for i, name := range names {
		names[i] = annotations.DefaultPrefix + "/" + name
	}
	return names
}

// warnOfKeys prints which keys of a ConfigMap, given by a flag, the bundled
// controller does not know: another one may.
func warnOfKeys(stderr io.Writer, flag string, keys map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(options.Names(), key) {
			fmt.Fprintln(stderr, strings.TrimSpace(fmt.Sprintf("warning: --%s: unknown ConfigMap key %s; %s", flag, key, suggest.DidYouMean(key, options.Names()))))
		}
	}
}

// warn prints what may be wrong with a scenario, a line each.
func warn(stderr io.Writer, s *scenario.Scenario) {
	for _, warning := range s.Warnings {
		fmt.Fprintln(stderr, "warning:", warning)
	}
}

// knownFaults says of each fault whether it lasts.
func knownFaults() map[string]bool {
	lasts := map[string]bool{}
	for _, f := range fault.All() {
		lasts[f.Name] = f.Lasts
	}
	return lasts
}

// conduct runs the scenario with its log in dir.
func conduct(ctx context.Context, dir string, s *scenario.Scenario, o runOptions, d driver.Driver, stderr io.Writer) (err error) {
	file, err := os.Create(filepath.Join(dir, eventsFile))
	if err != nil {
		return err
	}
	defer file.Close()
	start := time.Now()
	log := event.NewLog(file, start)
	defer func() { err = errors.Join(err, log.Close()) }()
	progress := newProgress(stderr, s)
	log.Tap(progress.see)
	defer progress.end()

	return run.Do(ctx, run.Options{
		Scenario: s, Seed: o.seed, Driver: d, Dir: dir,
		Log: log, Start: start, Environment: doctor.Environment(),
	})
}

// makeRunDir makes the folder of a run and copies the scenario into it, so
// that a report can be made again.
func makeRunDir(dir string, s *scenario.Scenario, rewritten bool) (string, error) {
	if dir == "" {
		dir = filepath.Join("runs", s.Name+"-"+time.Now().Format("20060102-150405"))
	}
	if _, err := os.Stat(filepath.Join(dir, eventsFile)); err == nil {
		return "", fmt.Errorf("%s holds a run already: choose another --out", dir)
	}
	text, err := readfile.Read(s.File, scenario.Largest)
	if rewritten || s.Located {
		text, err = s.Marshal()
	}
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, scenarioFile), text, 0o644); err != nil {
		return "", err
	}
	if name := s.Population.Recording; name != "" {
		return dir, copyFile(filepath.Join(filepath.Dir(s.File), name), filepath.Join(dir, name))
	}
	return dir, nil
}

func copyFile(from, to string) error {
	source, err := readfile.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// bundledController finds the controller's binary: as told, or beside ours.
func bundledController(path string) (string, error) {
	if path == "" {
		self, err := os.Executable()
		if err != nil {
			return "", err
		}
		path = filepath.Join(filepath.Dir(self), "nginx-ingress-controller")
	}
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("the controller is not at %s: build it (make build) or say where it is", path)
	}
	return path, nil
}

// started says whether a run came as far as its first round.
func started(dir string) bool {
	file, err := readfile.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		return false
	}
	defer file.Close()
	for e, err := range event.Read(file) {
		if err != nil {
			return false
		}
		if e.Phase != nil && e.Phase.Name == event.RoundBegin {
			return true
		}
	}
	return false
}
