package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
)

// side is one of the two that are compared: what is put in place of the
// scenario's bundled controller.
type side struct {
	name       string
	controller string
	flags      map[string]string
	config     map[string]string
	where      driver.Driver // with that controller
}

func (s *side) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&s.controller, s.name, "", "the controller: a binary, or where images run an image (default: the bundled one)")
	flags.StringToStringVar(&s.flags, s.name+"-flag", nil, "NAME=VALUE: a flag of its controller, such as nginx-template=/my/nginx.tmpl")
	flags.StringToStringVar(&s.config, s.name+"-config", nil, "KEY=VALUE: a key of its ConfigMap")
}

// of is the scenario with this side in place of what the scenario calls bundled.
func (s *side) of(original *scenario.Scenario) *scenario.Scenario {
	mine := *original
	mine.Subjects = append([]scenario.Subject{}, original.Subjects...)
	for i, subject := range mine.Subjects {
		if subject.Controller != scenario.Bundled {
			continue
		}
		mine.Subjects[i].Flags = scenario.Over(subject.Flags, s.flags)
		mine.Subjects[i].Config = scenario.Over(subject.Config, s.config)
	}
	return &mine
}

// changes reports whether the side differs from the scenario.
func (s *side) changes() bool { return s.controller != "" || len(s.flags)+len(s.config) > 0 }

// bundled are the subjects that the sides replace.
func bundled(s *scenario.Scenario) []scenario.Subject {
	return slices.DeleteFunc(slices.Clone(s.Subjects), func(one scenario.Subject) bool { return one.Controller != scenario.Bundled })
}

func abCommand() *cobra.Command {
	base, head := side{name: "base"}, side{name: "head"}
	var o compareOptions
	var n int
	var out string
	var at place
	command := &cobra.Command{
		Use:   "ab SCENARIO.yaml",
		Short: "Run a scenario with two controllers by turns and compare them",
		Long: `Run a scenario with two controllers by turns and compare them.

Base and head take turns (A B B A A B B A …), so that what the machine does
meanwhile troubles both alike. Before that, head is started once with the scenario's
population: where it cannot run, that is said before base has run for minutes. The
runs stay in the folders OUT/base and OUT/head; windtunnel compare reads them again. A
void run is made again, twice at most, and kept in OUT/void. For exit codes see
windtunnel compare; 3 also says that a run stayed void.`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeScenario,
		RunE: func(cmd *cobra.Command, args []string) error {
			load := loadScenario
			if base.controller != "" || head.controller != "" || at.image != "" {
				load = loadForeign
			}
			s, err := load(args[0])
			if err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), s)
			for _, side := range []side{base, head} {
				warnOfKeys(cmd.ErrOrStderr(), side.name+"-config", side.config)
			}
			options, err := o.options(s)
			if err != nil {
				return err
			}
			if n < 1 {
				return fmt.Errorf("-n=%d: want at least one run of each side", n)
			}
			if out == "" {
				out = filepath.Join("runs", s.Name+"-ab-"+time.Now().Format("20060102-150405"))
			}
			if err := alternate(cmd.Context(), s, [2]side{base, head}, n, at, out, cmd.ErrOrStderr()); err != nil {
				return err
			}
			return compareFolders(cmd.OutOrStdout(), cmd.ErrOrStderr(), filepath.Join(out, base.name), filepath.Join(out, head.name), o.form.chosen, options)
		},
	}
	base.add(command)
	head.add(command)
	at.add(command)
	command.Flags().IntVarP(&n, "runs", "n", 10, "runs per side; figures that vary need about 6, the A/A control twice as many (the table says how many)")
	command.Flags().StringVarP(&out, "out", "o", "", "folder for the runs (default runs/SCENARIO-ab-TIME)")
	o.add(command)
	return command
}

// alternate makes n runs of each side, in the order A B B A.
func alternate(ctx context.Context, s *scenario.Scenario, sides [2]side, n int, at place, out string, stderr io.Writer) error {
	for _, side := range sides {
		if side.changes() && len(bundled(s)) == 0 {
			return fmt.Errorf("--%s: no subject of %s uses the bundled controller, so there is none to replace", side.name, s.Name)
		}
	}
	for i := range sides {
		where, err := runOptions{place: at}.with(sides[i].controller).driver()
		if err == nil {
			err = driver.Fits(where, s)
		}
		if err != nil {
			return fmt.Errorf("--%s: %w", sides[i].name, err)
		}
		sides[i].where = where
	}
	if err := sides[1].try(ctx, s, filepath.Join(out, "try"), stderr); err != nil {
		if ctx.Err() != nil {
			return verdict(exitCut)
		}
		return fmt.Errorf("--%s: %w", sides[1].name, err)
	}
	for i := range 2 * n {
		which := sides[[4]int{0, 1, 1, 0}[i%4]]
		number := fmt.Sprintf("%02d", i/2+1)
		dir := filepath.Join(out, which.name, number)
		fmt.Fprintf(stderr, "run %d of %d: %s\n", i+1, 2*n, which.name)
		err := untilValid(dir, filepath.Join(out, "void", which.name+"-"+number), stderr, func() error {
			return which.run(ctx, s, dir, stderr)
		})
		switch {
		case ctx.Err() != nil:
			fmt.Fprintf(stderr, "windtunnel: interrupted; the runs so far are in %s\n", out)
			return verdict(exitCut)
		case errors.As(err, new(verdict)):
			return err
		case err != nil:
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// run makes a run of this side in dir and measures it. What it measured is what
// counts: whether expectations hold is not asked here, only whether it is void.
func (s *side) run(ctx context.Context, original *scenario.Scenario, dir string, stderr io.Writer) error {
	if _, err := makeRunDir(dir, original, false); err != nil {
		return err
	}
	mine := s.of(original)
	if err := conduct(ctx, dir, mine, runOptions{seed: original.Seed}, s.where, stderr); err != nil {
		return err
	}
	err := writeReport(dir, mine, form{}, io.Discard)
	if errors.Is(err, verdict(exitFailed)) {
		return nil
	}
	return err
}

// try starts the subjects that this side changes, if any, to find one that cannot run
// before the first run. If it fails, its logs stay in dir.
func (s *side) try(ctx context.Context, original *scenario.Scenario, dir string, stderr io.Writer) error {
	if !s.changes() {
		return nil
	}
	mine := s.of(original)
	mine.Subjects = bundled(mine)
	fmt.Fprintf(stderr, "checking that %s starts\n", s.name)
	start := time.Now()
	log := event.NewLog(io.Discard, start)
	defer log.Close()
	if err := run.Try(ctx, run.Options{Scenario: mine, Seed: original.Seed, Driver: s.where, Dir: dir, Log: log, Start: start}); err != nil {
		return fmt.Errorf("it does not start (logs in %s): %w", dir, err)
	}
	return os.RemoveAll(dir)
}

// tries is how often a run is made until one is not void: a moment at which the
// machine was busy shall not cost all the other runs.
const tries = 3

// untilValid makes a run in dir until it is not void. Those that are go to the
// folders aside-1, aside-2 …, where nobody compares them.
func untilValid(dir, aside string, stderr io.Writer, run func() error) error {
	for try := 1; ; try++ {
		err := run()
		if !errors.Is(err, verdict(exitVoid)) {
			return err
		}
		if try == tries {
			fmt.Fprintf(stderr, "windtunnel: %s is void, as were %d tries before it (%s says why): is the machine busy?\n", dir, try-1, filepath.Join(dir, markdownFile))
			return err
		}
		kept := fmt.Sprintf("%s-%d", aside, try)
		fmt.Fprintf(stderr, "%s is void and made again; what it was like is in %s\n", dir, kept)
		if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
			return err
		}
		if err := os.Rename(dir, kept); err != nil {
			return err
		}
	}
}
