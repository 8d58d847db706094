package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/internal/tempdir"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

type replayOptions struct {
	runOptions
	flags map[string]string
	keys  map[string]string
	drain time.Duration
}

func replayCommand() *cobra.Command {
	var o replayOptions
	command := &cobra.Command{
		Use:   "replay RUN|RECORDING",
		Short: "Let the same happen again: of an earlier run, or of a recorded cluster",
		Long: `Let the same happen again: of an earlier run, or of a recorded cluster.

Of a RUN (its folder), the scenario runs with the run's seed, so with the same
population, changes and times, against another controller, or with other flags or
ConfigMap keys. Whether the changes were the same is checked against the run's log.
A RECORDING (a file of windtunnel record) becomes a scenario with a hundred requests
a second to its hosts; the scenario is kept with the results, to be built upon.
Exit codes: as those of windtunnel run.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.replay(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().StringVarP(&o.out, "out", "o", "", "folder for the results (default runs/NAME-TIME)")
	command.Flags().IntVar(&o.portBase, "port-base", 0, "first port of the first subject, ten a subject (default: free ports)")
	o.place.add(command)
	command.Flags().StringVar(&o.controller, "controller", "", "the bundled controller's binary (default: beside this one)")
	command.Flags().StringToStringVar(&o.flags, "flag", nil, "a flag of every subject's controller, over its own: sync-rate-limit=1")
	command.Flags().StringToStringVar(&o.keys, "config", nil, "a key of every subject's ConfigMap, over its own: worker-processes=4")
	command.Flags().DurationVar(&o.drain, "drain", 5*time.Second, "how long a recorded pod goes on serving when it has left its service")
	o.printed.add(command, markdownForm)
	return command
}

func (o replayOptions) replay(ctx context.Context, of string, stdout, stderr io.Writer) error {
	warnOfKeys(stderr, "config", o.keys)
	info, err := os.Stat(of)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return o.replayRecording(ctx, of, stdout, stderr)
	}
	s, err := loadForeign(filepath.Join(of, scenarioFile))
	if err != nil {
		return fmt.Errorf("%s is not the folder of a run: %w", of, err)
	}
	before, seed, err := loggedChanges(of)
	if err != nil {
		return err
	}
	o.seed, o.seedSet = seed, true
	o.change(s)
	o.rewritten = len(o.flags)+len(o.keys) > 0
	dir, ran := o.again(ctx, s, stdout, stderr)
	if dir == "" {
		return ran
	}
	now, _, err := loggedChanges(dir)
	if err != nil {
		return errors.Join(ran, err)
	}
	if err := partWays(before, now); err != nil {
		return fmt.Errorf("the replay is not of the same changes: %w", err)
	}
	said := stdout
	if o.printed.chosen != textForm {
		said = stderr // for stdout is read by a program
	}
	fmt.Fprintf(said, "the same %s as in %s\n", plural.Of(len(now), "change"), of)
	return ran
}

// replayRecording makes a scenario of a recording, in the folder of the results.
func (o replayOptions) replayRecording(ctx context.Context, path string, stdout, stderr io.Writer) error {
	file, err := readfile.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	recording, err := churn.Read(file)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
	temporary, err := tempdir.Make("replay")
	if err != nil {
		return err
	}
	defer temporary.Remove()
	work := temporary.Path
	text := fmt.Sprintf(replayed, name, filepath.Base(path), recording.Length.Truncate(time.Second)+time.Second, o.drain)
	if err := os.WriteFile(filepath.Join(work, scenarioFile), []byte(text), 0o644); err != nil {
		return err
	}
	if err := copyFile(path, filepath.Join(work, filepath.Base(path))); err != nil {
		return err
	}
	s, err := loadScenario(filepath.Join(work, scenarioFile))
	if err != nil {
		return err
	}
	o.change(s)
	o.rewritten = len(o.flags)+len(o.keys) > 0
	_, err = o.again(ctx, s, stdout, stderr)
	return err
}

// replayed is the scenario of a recording.
const replayed = `# What was recorded in a cluster, again.
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: %s}
spec:
  summary: The recorded changes, as every worker and every client sees them.
  population: {recording: %q}
  traffic:
  - {lane: http, rate: 70/s}
  - {lane: post, rate: 30/s}
  timeline:
  - {at: 0s, churn: recorded, for: %v, drain: %v}
  expect:
  - changes.failed == 0
  - changes.unconverged == 0
  - requests.unexplained == 0
`

// change gives every subject the flags and keys of the command line.
func (o replayOptions) change(s *scenario.Scenario) {
	for i := range s.Subjects {
		s.Subjects[i].Flags = scenario.Over(s.Subjects[i].Flags, o.flags)
		s.Subjects[i].Config = scenario.Over(s.Subjects[i].Config, o.keys)
	}
}

// again runs the scenario and tells the folder of its results, empty where there
// are none.
func (o replayOptions) again(ctx context.Context, s *scenario.Scenario, stdout, stderr io.Writer) (dir string, err error) {
	if o.out == "" {
		o.out = filepath.Join("runs", s.Name+"-replay-"+time.Now().Format("20060102-150405"))
	}
	err = runLoaded(ctx, s, o.runOptions, stdout, stderr)
	if !started(o.out) {
		return "", err
	}
	return o.out, err
}

// loggedChanges are the changes of a run, as its log has them, and its seed.
func loggedChanges(dir string) (changes []event.Change, seed uint64, err error) {
	file, err := readfile.Open(filepath.Join(dir, eventsFile))
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	subject := ""
	for e, err := range event.Read(file) {
		switch {
		case err != nil:
			return nil, 0, fmt.Errorf("%s: %w", file.Name(), err)
		case e.Run != nil:
			seed = e.Run.Seed
			if len(e.Run.Subjects) > 0 {
				subject = e.Run.Subjects[0] // the others get the same
			}
		case e.Change != nil && e.Subject == subject:
			changes = append(changes, *e.Change)
		}
	}
	return changes, seed, nil
}

// partWays says where two runs part. The shorter one may have been cut.
func partWays(before, now []event.Change) error {
	for i := range min(len(before), len(now)) {
		if !reflect.DeepEqual(before[i], now[i]) {
			return fmt.Errorf("change %d was of %s, and is %d of %s", before[i].ID, before[i].Object, now[i].ID, now[i].Object)
		}
	}
	return nil
}
