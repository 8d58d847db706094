package trial

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
)

// Side is base or head of a comparison: what replaces the scenario's bundled controller.
type Side struct {
	Name       string            // base or head
	Controller string            // empty: the bundled one
	Flags      map[string]string // of the controller
	Config     map[string]string // keys of its ConfigMap
	Driver     driver.Driver     // with that controller
}

// Changes reports whether the side differs from the scenario.
func (s Side) Changes() bool { return s.Controller != "" || len(s.Flags)+len(s.Config) > 0 }

// Supported is an error if the side changes something, and the scenario has no subject to change.
func (s Side) Supported(original *scenario.Scenario) error {
	if s.Changes() && len(bundled(original)) == 0 {
		return fmt.Errorf("no subject of %s uses the bundled controller, so there is none to replace", original.Name)
	}
	return nil
}

// in returns the scenario with this side in place of the bundled controller.
func (s Side) in(original *scenario.Scenario) *scenario.Scenario {
	mine := *original
	mine.Subjects = slices.Clone(original.Subjects)
	for i, subject := range mine.Subjects {
		if subject.Controller != scenario.Bundled {
			continue
		}
		mine.Subjects[i].Flags = scenario.Over(subject.Flags, s.Flags)
		mine.Subjects[i].Config = scenario.Over(subject.Config, s.Config)
	}
	return &mine
}

// bundled returns the subjects that a side replaces.
func bundled(s *scenario.Scenario) []scenario.Subject {
	return slices.DeleteFunc(slices.Clone(s.Subjects), func(one scenario.Subject) bool { return one.Controller != scenario.Bundled })
}

// tryStart starts the subjects that this side changes, if any, and stops them again, so that a
// controller that cannot start is found before the first run. If it fails, the logs stay in
// dir.
func (s Side) tryStart(ctx context.Context, original *scenario.Scenario, dir string, say io.Writer) error {
	if !s.Changes() {
		return nil
	}
	mine := s.in(original)
	mine.Subjects = bundled(mine)
	fmt.Fprintf(say, "checking that %s starts\n", s.Name)
	start := time.Now()
	log := event.NewLog(io.Discard, start)
	defer log.Close()
	if err := run.Try(ctx, run.Options{Scenario: mine, Seed: original.Seed, Driver: s.Driver, Dir: dir, Log: log, Start: start}); err != nil {
		return fmt.Errorf("it does not start (logs in %s): %w", dir, err)
	}
	return os.RemoveAll(dir)
}
