package trial

import (
	"context"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"time"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
)

// Side is base or head of a comparison. It says what replaces the scenario's bundled controller.
type Side struct {
	Name    string            // base or head
	Subject scenario.Subject  // the zero value: the bundled controller
	Flags   map[string]string // of the controller, besides those of the subject
	Config  map[string]string // keys of its ConfigMap, likewise
	Driver  driver.Driver
}

// Changes reports whether the side differs from the scenario.
func (s Side) Changes() bool {
	ours := scenario.Subject{Name: s.Subject.Name, Controller: scenario.Bundled}
	return !reflect.DeepEqual(s.Subject, scenario.Subject{}) && !reflect.DeepEqual(s.Subject, ours) || len(s.Flags)+len(s.Config) > 0
}

// Supported returns an error if the side changes something, but the scenario has no subject to
// change.
func (s Side) Supported(original *scenario.Scenario) error {
	if s.Changes() && len(bundled(original)) == 0 {
		return fmt.Errorf("no subject of %s uses the bundled controller, so there is none to replace", original.Name)
	}
	return nil
}

// In returns the scenario with this side in place of the bundled controller. Its subjects keep their
// names, by which the sides are compared.
func (s Side) In(original *scenario.Scenario) *scenario.Scenario {
	mine := *original
	mine.Subjects = slices.Clone(original.Subjects)
	for i, subject := range mine.Subjects {
		if subject.Controller == scenario.Bundled {
			mine.Subjects[i] = inPlaceOf(subject, s.subject())
		}
	}
	return &mine
}

// subject returns the replacement of a subject, with the flags and keys of the side.
func (s Side) subject() scenario.Subject {
	made := s.Subject
	if made.Controller == "" && made.Adapter == "" {
		made.Controller = scenario.Bundled
	}
	made.Flags, made.Config = scenario.Over(made.Flags, s.Flags), scenario.Over(made.Config, s.Config)
	return made
}

// tryStart starts the subjects that this side changes, if any, and stops them again, so that a
// controller that cannot start is found before the first run. If it fails, the logs stay in
// dir.
func (s Side) tryStart(ctx context.Context, original *scenario.Scenario, dir string, say io.Writer) error {
	if !s.Changes() {
		return nil
	}
	replaced := *original
	replaced.Subjects = bundled(original)
	mine := s.In(&replaced)
	fmt.Fprintf(say, "checking that %s starts\n", s.Name)
	start := time.Now()
	log := event.NewLog(io.Discard, start)
	defer log.Close()
	if err := run.Try(ctx, run.Options{Scenario: mine, Seed: original.Seed, Driver: s.Driver, Dir: dir, Log: log, Start: start}); err != nil {
		return fmt.Errorf("it does not start (logs in %s): %w", dir, err)
	}
	return os.RemoveAll(dir)
}
