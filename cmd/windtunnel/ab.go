package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// abOptions contains the flags of ab.
type abOptions struct {
	base, head trial.Side
	subjects   [2]string // of base and head
	compare    compareOptions
	runs       int
	seed       seedFlag
	out        string
	driver     driverFlags
	progress   progressFlags
}

func abCommand() *cobra.Command {
	o := abOptions{base: trial.Side{Name: "base"}, head: trial.Side{Name: "head"}}
	command := &cobra.Command{
		Use:   "ab SCENARIO.yaml",
		Short: "Run a scenario with two controllers in turns and compare them",
		Long: `Run a scenario with two controllers in turns and compare them.

Base and head take turns (A B B A A B B A …), so that changes of the machine affect
both alike. First, head is started once with the scenario's population: a controller
that cannot start is detected before base has run for minutes. The runs stay in the
folders OUT/base and OUT/head; windtunnel compare can read them again. A void run is
repeated at most twice, and kept in OUT/void. Exit codes: those of windtunnel compare;
3 also means that a run stayed void.`,
		Args:              arguments("SCENARIO.yaml"),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.ab(cmd.Context(), args[0], cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	addSide(command, &o.base, &o.subjects[0])
	addSide(command, &o.head, &o.subjects[1])
	o.driver.add(command)
	o.driver.addCluster(command.Flags())
	command.Flags().IntVarP(&o.runs, "runs", "n", 10, "runs per side; figures that vary need about 6, the A/A control twice as many (the table says how many)")
	command.Flags().StringVarP(&o.out, "out", "o", "", "folder for the runs (default runs/SCENARIO-ab-TIME)")
	o.seed.add(command.Flags())
	o.progress.add(command.Flags())
	o.compare.add(command)
	return command
}

// addSide adds the flags of base or head.
func addSide(command *cobra.Command, s *trial.Side, subject *string) {
	flags := command.Flags()
	flags.StringVar(subject, s.Name, "", "the controller of this side: "+subjectUsage+"; with a driver that runs images also the name of one (default: bundled)")
	flags.StringToStringVar(&s.Flags, s.Name+"-flag", nil, "NAME=VALUE: a flag of its controller, such as nginx-template=/my/nginx.tmpl")
	flags.StringToStringVar(&s.Config, s.Name+"-config", nil, "KEY=VALUE: a key of its ConfigMap")
}

// parseSides parses the subjects of both sides.
func (o *abOptions) parseSides() error {
	for i, side := range []*trial.Side{&o.base, &o.head} {
		if o.subjects[i] == "" {
			continue
		}
		var err error
		if side.Subject, err = parseSubject(o.subjects[i], !o.driver.isLocal()); err != nil {
			return fmt.Errorf("--%s=%s: %w", side.Name, o.subjects[i], err)
		}
	}
	return nil
}

func (o abOptions) ab(ctx context.Context, path string, stdout, stderr io.Writer) error {
	if err := o.parseSides(); err != nil {
		return err
	}
	s, err := loaderFor(o.subjects != [2]string{} || o.driver.replacesController())(path)
	if err != nil {
		return err
	}
	warn(stderr, s)
	s.Seed = o.seed.or(s.Seed) // the same for all runs: only runs with the same seed can be compared
	for _, side := range []trial.Side{o.base, o.head} {
		warnOfKeys(stderr, "--"+side.Name+"-config", side.Config)
		warnOfDroppedFlags(s, side.Subject, stderr)
	}
	options, err := o.compare.options(s)
	if err != nil {
		return err
	}
	if o.runs < 1 {
		return fmt.Errorf("-n=%d: want at least one run of each side", o.runs)
	}
	removeEmpty, err := makeOut(&o.out, s.Name+"-ab")
	if err != nil {
		return err
	}
	defer removeEmpty()
	pair := trial.Pair{Scenario: s, Sides: [2]trial.Side{o.base, o.head}, Runs: o.runs, Out: o.out, Say: stderr, Watch: o.progress.show(stderr)}
	if err := o.openSides(ctx, s, &pair.Sides); err != nil {
		return err
	}
	return o.compareSides(ctx, pair, options, stdout, stderr)
}

// openSides opens the driver of each side. The error names the side that cannot run.
func (o abOptions) openSides(ctx context.Context, s *scenario.Scenario, sides *[2]trial.Side) error {
	for _, side := range sides {
		if err := side.Supported(s); err != nil {
			return fmt.Errorf("--%s: %w", side.Name, err)
		}
	}
	if err := o.driver.forSubjectsOf(sides[0].In(s), sides[1].In(s)).checkBundled(); err != nil {
		return err
	}
	for i := range sides {
		mine := sides[i].In(s)
		d, err := o.driver.forSubjectsOf(mine).open(ctx)
		if err == nil {
			err = driver.Supports(d, mine)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", sides[i].Name, err)
		}
		sides[i].Driver = d
	}
	return nil
}

// compareSides makes all runs and compares the two sides.
func (o abOptions) compareSides(ctx context.Context, pair trial.Pair, options compare.Options, stdout, stderr io.Writer) error {
	switch outcome, err := pair.Do(ctx); outcome {
	case judge.NotRun:
		return err
	case judge.Passed:
	default:
		return exitWith(outcome)
	}
	return compareFolders(stdout, stderr, pair.Folder(pair.Sides[0]), pair.Folder(pair.Sides[1]), o.compare.format, options)
}
