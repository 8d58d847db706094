package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/internal/suggest"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/expect"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/traffic"
)

// scenarioFolder is the default folder for scenarios.
const scenarioFolder = "scenarios"

// configMapOf returns the name of the ConfigMap of a subject's controller: namespace/name; empty if it
// has none.
func configMapOf(s subject.Subject) string {
	setup, err := driver.SetupOf(s)
	if err != nil {
		return "" // the driver reports the error
	}
	return setup.ConfigMap
}

// loadScenario reads a scenario for the bundled controller.
func loadScenario(path string) (*scenario.Scenario, error) {
	return scenario.Load(path, knownNames())
}

// loadForAnyController reads a scenario for a run in which another controller, or another version
// of ours, may replace the bundled one. We do not know which keys such a controller ignores.
func loadForAnyController(path string) (*scenario.Scenario, error) {
	known := knownNames()
	known.Keys.Other = true
	return scenario.Load(path, known)
}

// loaderFor returns the function that reads scenarios for a run. replaced says whether another controller
// may replace the bundled one.
func loaderFor(replaced bool) func(path string) (*scenario.Scenario, error) {
	if replaced {
		return loadForAnyController
	}
	return loadScenario
}

// knownNames returns the names that scenarios are validated against.
func knownNames() scenario.Known {
	return scenario.Known{
		Lanes:        traffic.Lanes(),
		StreamLanes:  traffic.StreamLanes(),
		LastingLanes: traffic.LastingLanes(),
		SizedLanes:   traffic.SizedLanes(),
		Faults:       knownFaults(),
		Keys: scenario.Keys{
			Config:      options.Names(),
			ConfigMap:   configMapOf(subject.Subject{Controller: subject.Bundled}),
			Annotations: knownAnnotations(),
			Flags:       controllerFlags(),
		},
		CheckExpression: func(text string) error {
			_, err := expect.Compile(text)
			return err
		},
		CheckMeasurement: measure.CheckName,
		CheckFigure: func(pattern string) error {
			_, err := compare.Select([]string{pattern})
			return err
		},
		CheckBudget: func(figure, amount string) error {
			_, err := compare.ParseBudget(figure, amount)
			return err
		},
	}
}

// knownAnnotations returns the annotations of the bundled controller, with their prefix.
func knownAnnotations() []string {
	names := annotations.Names()
	for i, name := range names {
		names[i] = annotations.DefaultPrefix + "/" + name
	}
	return names
}

// knownFaults returns all faults by name, and whether each of them lasts.
func knownFaults() map[string]bool {
	lasts := map[string]bool{}
	for _, f := range fault.All() {
		lasts[f.Name] = f.Lasts
	}
	return lasts
}

// warn prints possible problems of a scenario, one per line.
func warn(stderr io.Writer, s *scenario.Scenario) {
	for _, warning := range s.Warnings {
		fmt.Fprintln(stderr, "warning:", warning)
	}
}

// warnOfKeys prints a warning for each ConfigMap key that the bundled controller does not know.
// Another controller may know it. place is where the user sets the keys, such as --config.
func warnOfKeys(stderr io.Writer, place string, keys map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if !slices.Contains(options.Names(), key) {
			warning := fmt.Sprintf("warning: %s: unknown ConfigMap key %s", place, key)
			if hint := suggest.DidYouMean(key, options.Names()); hint != "" {
				warning += "; " + hint
			}
			fmt.Fprintln(stderr, warning)
		}
	}
}

// scenarios reads the scenarios at the given paths, which are files or folders, and returns those
// of a tier. An empty tier selects all. load reads one. The error joins the problems of all files.
func scenarios(paths []string, tier string, load func(path string) (*scenario.Scenario, error)) ([]*scenario.Scenario, error) {
	files, err := scenarioFiles(paths)
	if err != nil {
		return nil, err
	}
	var all []*scenario.Scenario
	var wrong []error
	for _, name := range files {
		s, err := load(name)
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
		what := "scenario (a file *.yaml)"
		if tier != "" {
			what = "scenario of tier " + tier
		}
		return nil, fmt.Errorf("no %s in %s", what, strings.Join(paths, ", "))
	}
	return all, nil
}

// scenarioFiles returns the files in paths, and the YAML files in the folders in paths.
func scenarioFiles(paths []string) ([]string, error) {
	var files []string
	for _, path := range paths {
		found, err := readfile.Files(path, ".yaml", ".yml")
		if errors.Is(err, fs.ErrNotExist) && (path == scenarioFolder || path == caseFolder) {
			return nil, fmt.Errorf("%w: run this command in a folder that contains %s, such as a checkout of Windtunnel", err, path)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}
