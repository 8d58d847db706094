package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/tempdir"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// replayOptions contains the flags of replay.
type replayOptions struct {
	out      string
	subjects []string
	driver   driverFlags
	progress progressFlags
	format   format
	flags    map[string]string
	keys     map[string]string
	drain    time.Duration
	drainSet bool
}

func replayCommand() *cobra.Command {
	var o replayOptions
	command := &cobra.Command{
		Use:   "replay RUN|RECORDING",
		Short: "Repeat the changes of an earlier run, or of a recorded cluster",
		Long: `Repeat the changes of an earlier run, or of a recorded cluster.

The scenario of a RUN (its folder) runs again with the run's seed, and so with the same
population, changes and times: against another controller, or with other flags or
ConfigMap keys. The replay compares the changes with those in the run's log.
A RECORDING (a file of windtunnel record) becomes a scenario with a hundred requests
per second to its hosts, which is saved with the results, so that you can extend it.
Exit codes: those of windtunnel run.`,
		Args: arguments("RUN|RECORDING"),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.drainSet = cmd.Flags().Changed("drain")
			return o.replay(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	flags := command.Flags()
	flags.StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/NAME-replay-TIME)")
	addSubjects(flags, &o.subjects)
	o.driver.add(command)
	o.driver.addCluster(command.Flags())
	o.driver.addController(flags)
	o.driver.addPortBase(flags)
	o.progress.add(flags)
	flags.StringToStringVar(&o.flags, "flag", nil, "a flag of every subject's controller, which overrides its own: sync-rate-limit=1")
	flags.StringToStringVar(&o.keys, "config", nil, "a key of every subject's ConfigMap, which overrides its own: worker-processes=4")
	flags.DurationVar(&o.drain, "drain", scenario.DefaultDrain, "of a RECORDING: how long a pod keeps serving after it is removed from its service")
	o.format.add(command, markdownFormat)
	return command
}

func (o replayOptions) replay(ctx context.Context, of string, stdout, stderr io.Writer) error {
	warnOfKeys(stderr, "--config", o.keys)
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	switch {
	case o.drain < 0 || o.drain > scenario.LongestTime:
		return fmt.Errorf("--drain=%v: want 0s or more, and %v (31 days) at most", o.drain, scenario.LongestTime)
	case o.drainSet && info.IsDir():
		return fmt.Errorf("--drain=%v is for recordings; a run drains as its scenario says: change drain in %s", o.drain, rundir.Dir(of).File(rundir.Scenario))
	case info.IsDir():
		return o.replayRun(ctx, rundir.Dir(of), stdout, stderr)
	case filepath.Base(of) == rundir.Events:
		if run := rundir.Dir(filepath.Dir(of)); run.Started() {
			return fmt.Errorf("%s is the log of a run: name its folder, %s", of, run)
		}
	}
	return o.replayRecording(ctx, of, stdout, stderr)
}

// replayRun runs the scenario of an earlier run again, and checks that the changes are the same.
func (o replayOptions) replayRun(ctx context.Context, of rundir.Dir, stdout, stderr io.Writer) error {
	s, err := loadForAnyController(of.File(rundir.Scenario))
	if err != nil {
		return notRunFolder(of, err)
	}
	before, seed, err := of.Changes(s.Seed)
	if err != nil {
		return err
	}
	dir, ran := o.again(ctx, s, seed, stdout, stderr)
	if dir == "" || !dir.Started() {
		return ran
	}
	now, _, err := dir.Changes(seed)
	if err != nil {
		return errors.Join(ran, err)
	}
	compared, err := trial.SameChanges(before, now)
	if err != nil {
		return fmt.Errorf("the replay did not make the same changes: %w", err)
	}
	if o.format.chosen != textFormat {
		stdout = stderr // stdout is for programs to parse
	}
	fmt.Fprintln(stdout, comparedChanges(compared, len(before), len(now), of, ctx.Err() != nil))
	return ran
}

// comparedChanges describes in a line how many changes of a run and its replay were compared, if
// none differs.
func comparedChanges(compared, before, now int, of rundir.Dir, interrupted bool) string {
	all, why := max(before, now), ""
	switch {
	case all == 0:
		return fmt.Sprintf("no change could be compared: neither %s nor its replay made one", of)
	case before == now:
		return fmt.Sprintf("the same %s as in %s", plural.Of(compared, "change"), of)
	case before == 0:
		why = fmt.Sprintf("the log of %s has none", of)
	case before < now:
		why = fmt.Sprintf("the log of %s has no more", of)
	case interrupted:
		why = "the replay was interrupted"
	default:
		why = fmt.Sprintf("the replay made only %d", now)
	}
	text := fmt.Sprintf("%d of %s could be compared", compared, plural.Of(all, "change"))
	if compared > 0 {
		text += ", and are the same"
	}
	return text + ": " + why
}

// replayRecording runs a scenario that is built from a recording.
func (o replayOptions) replayRecording(ctx context.Context, path string, stdout, stderr io.Writer) error {
	temporary, err := tempdir.Make("replay")
	if err != nil {
		return err
	}
	defer temporary.Remove()
	file, err := trial.WriteRecorded(temporary.Path, path, o.drain)
	if err != nil {
		return err
	}
	s, err := loadScenario(file)
	if err != nil {
		return err
	}
	_, err = o.again(ctx, s, s.Seed, stdout, stderr)
	return err
}

// again runs a scenario with the flags and keys of the command line. It returns the folder of the
// results; empty if there is none.
func (o replayOptions) again(ctx context.Context, s *scenario.Scenario, seed uint64, stdout, stderr io.Writer) (rundir.Dir, error) {
	subjects, err := parseSubjects(o.subjects, !o.driver.isLocal())
	if err != nil {
		return "", err
	}
	if s, err = replaceSubjects(s, subjects, stderr); err != nil {
		return "", err
	}
	trial.Override(s, o.flags, o.keys)
	one := runSpec{scenario: s, rewritten: len(subjects)+len(o.flags)+len(o.keys) > 0, seed: seed, out: o.out, name: s.Name + "-replay", progress: o.progress}
	return runOne(ctx, one, o.driver, o.format, stdout, stderr)
}
