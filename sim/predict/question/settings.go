package question

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/specfile"
)

// setting is a flag or a key of the ConfigMap that matters for the control loop.
type setting struct {
	name    string
	initial string // its default
	set     func(*simulate.Settings, string) error
}

var flags = []setting{
	{"sync-rate-limit", "0.3", positive(func(s *simulate.Settings) *float64 { return &s.SyncRate })},
	{"dynamic-sync-rate-limit", "0", func(s *simulate.Settings, text string) error {
		rate, err := strconv.ParseFloat(text, 64)
		if err != nil || !(rate >= 0) || math.IsInf(rate, 0) {
			return errors.New("want a number of 0 or more")
		}
		if rate > 0 && rate < s.SyncRate {
			return fmt.Errorf("must not be less than sync-rate-limit, %v", s.SyncRate)
		}
		s.DynamicSyncRate = rate
		return nil
	}},
	{"dynamic-configuration", "true", truth(func(s *simulate.Settings) *bool { return &s.Dynamic })},
	{"backends-sync", "poll", func(s *simulate.Settings, text string) error {
		if text != "poll" && text != "push" {
			return errors.New("want poll or push")
		}
		s.Push = text == "push"
		return nil
	}},
	{"backends-delta", "false", truth(func(s *simulate.Settings) *bool { return &s.Delta })},
}

var config = []setting{
	{"worker-processes", "auto", func(s *simulate.Settings, text string) error {
		if text == "auto" {
			return nil // set already
		}
		workers, err := strconv.Atoi(text)
		if err != nil || workers < 1 || workers > mostWorkers {
			return fmt.Errorf("want auto, or a number from 1 to %d", mostWorkers)
		}
		s.Workers = workers
		return nil
	}},
	{"worker-shutdown-timeout", "240s", func(s *simulate.Settings, text string) error {
		timeout, err := time.ParseDuration(text)
		if err != nil || timeout < 0 {
			return errors.New("want a duration such as 240s")
		}
		s.ShutdownTimeout = timeout
		return nil
	}},
}

// Limits of a question, so that a typing error does not exhaust the machine.
const (
	mostWorkers = 4096
	mostCluster = 1_000_000_000
	mostRuns    = 10_000
	mostAnswers = 1_000
	mostChanges = scenario.MostChanges
)

func positive(of func(*simulate.Settings) *float64) func(*simulate.Settings, string) error {
	return func(s *simulate.Settings, text string) error {
		value, err := strconv.ParseFloat(text, 64)
		if err != nil || !(value > 0) || math.IsInf(value, 0) {
			return errors.New("want a number above 0")
		}
		*of(s) = value
		return nil
	}
}

func truth(of func(*simulate.Settings) *bool) func(*simulate.Settings, string) error {
	return func(s *simulate.Settings, text string) error {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("want true or false")
		}
		*of(s) = value
		return nil
	}
}

// settings returns the settings for a machine.
func (s *Spec) settings(processors int) (simulate.Settings, error) {
	result := simulate.Settings{Workers: processors}
	for _, group := range []struct {
		known []setting
		given map[string]string
	}{{flags, s.Flags}, {config, s.Config}} {
		for _, known := range group.known {
			text, ok := group.given[known.name]
			if !ok {
				text = known.initial
			}
			if err := known.set(&result, text); err != nil {
				return result, fmt.Errorf("%s: %q: %w", known.name, text, err)
			}
		}
	}
	return result, nil
}

func namesOf(all []setting) []string {
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	return names
}

// numbers are the other settings that are numbers.
var numbers = map[string]func(*Spec) *int{
	"ingresses":  func(s *Spec) *int { return &s.Cluster.Ingresses },
	"services":   func(s *Spec) *int { return &s.Cluster.Services },
	"endpoints":  func(s *Spec) *int { return &s.Cluster.Endpoints },
	"processors": func(s *Spec) *int { return &s.Processors },
}

// Settable returns the names that Set and sweeps know.
func Settable() []string {
	names := slices.Concat(namesOf(flags), namesOf(config), slices.Collect(maps.Keys(numbers)), slices.Collect(maps.Keys(clients)), []string{"for"})
	for _, kind := range simulate.Kinds {
		names = append(names, string(kind))
	}
	slices.Sort(names)
	return names
}

// Set sets a value by its name: a flag, a key of the ConfigMap, a number of the cluster, the rate of
// a kind of change or of a lane, or the time for which changes are made. It only checks that the value
// can be parsed; Check checks the rest.
func (s *Spec) Set(name, value string) error {
	isChange := slices.Contains(simulate.Kinds, simulate.Kind(name))
	_, isLane := clients[name]
	switch {
	case slices.Contains(namesOf(flags), name):
		s.Flags = with(s.Flags, name, value)
	case slices.Contains(namesOf(config), name):
		s.Config = with(s.Config, name, value)
	case numbers[name] != nil:
		number, err := strconv.Atoi(value)
		if err != nil || number < 1 {
			return fmt.Errorf("%s: %q: want a whole number above 0", name, value)
		}
		*numbers[name](s) = number
	case name == "for":
		length, err := time.ParseDuration(value)
		if err != nil {
			return fmt.Errorf("%s: %q: want a duration such as 10m", name, value)
		}
		s.For = length
	case isChange, isLane:
		rate, err := scenario.ParseRate(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if isChange {
			s.Changes = setRate(s.Changes, func(c *Change) (bool, *scenario.Rate) { return string(c.Kind) == name, &c.Rate }, Change{Kind: simulate.Kind(name), Rate: rate}, rate)
		} else {
			s.Traffic = setRate(s.Traffic, func(t *Traffic) (bool, *scenario.Rate) { return t.Lane == name, &t.Rate }, Traffic{Lane: name, Rate: rate}, rate)
		}
	default:
		return fmt.Errorf("unknown setting %s; %s", name, specfile.Choose(name, "settings", Settable()))
	}
	return nil
}

// with returns a copy of a map with another value.
func with(all map[string]string, name, value string) map[string]string {
	all = maps.Clone(all)
	if all == nil {
		all = map[string]string{}
	}
	all[name] = value
	return all
}

// setRate returns a copy of a list in which all matching items have a rate. It adds one if none does.
func setRate[T any](all []T, is func(*T) (bool, *scenario.Rate), added T, rate scenario.Rate) []T {
	all = slices.Clone(all)
	found := false
	for i := range all {
		if matches, at := is(&all[i]); matches {
			*at, found = rate, true
		}
	}
	if !found {
		all = append(all, added)
	}
	return all
}

// Flags returns the names of the controller's flags that matter for the control loop.
func Flags() []string { return namesOf(flags) }
