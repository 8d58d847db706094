package history

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"strconv"

	"sigs.k8s.io/yaml"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
)

// Options are the properties of a run that are kept besides its results.
type Options struct {
	Commit gitrepo.Commit // what the run measured
	// Setup are further properties of the machine, by name, that two runs must have in common to be
	// compared.
	Setup      map[string]string
	KeepReport bool   // keep the run's report
	ReportURL  string // of the run's report elsewhere; empty: none
}

// ofSetup are the properties of a run's environment that two runs must have in common to be compared.
var ofSetup = []string{"cpu", "processors", "nginx"}

// entry returns the entry of a run.
func (o Options) entry(run rundir.Dir, result measure.Result) (Entry, error) {
	e := Entry{
		Schema: Schema, Commit: o.Commit, Scenario: result.Run.Scenario, Start: result.Run.Start, Report: o.ReportURL,
		Setup:       map[string]string{"driver": result.Run.Driver, "seed": strconv.FormatUint(result.Run.Seed, 10)},
		Environment: maps.Clone(result.Run.Environment),
	}
	if o.KeepReport {
		e.Report = rundir.Page
	}
	for _, name := range ofSetup {
		if value, known := e.Environment[name]; known {
			e.Setup[name] = value
			delete(e.Environment, name)
		}
	}
	digest, err := digestOf(run)
	if err != nil {
		return Entry{}, err
	}
	if digest != "" {
		e.Setup["scenario"] = digest
	}
	for name, value := range o.Setup {
		if _, taken := e.Setup[name]; taken {
			return Entry{}, fmt.Errorf("the run itself says what %s is: %s; choose another name", name, e.Setup[name])
		}
		delete(e.Environment, name)
		e.Setup[name] = value
	}
	return e, nil
}

// unmeasured are the fields of a scenario that do not affect what is measured, and the seed, which is
// a property of its own.
var unmeasured = []string{"summary", "about", "expect", "compare", "control", "tier", "seed"}

// underTest are the fields of a subject that name the program under test, such as the path of a binary.
var underTest = []string{"controller", "image", "nginx"}

// digestOf returns a digest of the parts of a run's scenario that affect measurements. It is the same
// for scenarios that differ only in comments, expectations, or the program under test. It is empty if
// the scenario was not kept.
func digestOf(run rundir.Dir) (string, error) {
	path := run.File(rundir.Scenario)
	text, err := readfile.Read(path, scenario.Largest)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var file map[string]any
	if err := yaml.Unmarshal(text, &file); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	spec, _ := file["spec"].(map[string]any)
	delete(file, "metadata")
	remove(spec, unmeasured)
	subjects, _ := spec["subjects"].([]any)
	for _, s := range subjects {
		subject, _ := s.(map[string]any)
		remove(subject, underTest)
	}
	canonical, err := json.Marshal(file) // sorts the keys of maps
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	digest := sha256.New()
	digest.Write(canonical)
	population, _ := spec["population"].(map[string]any)
	for _, field := range []string{"recording", "cluster"} {
		if name, _ := population[field].(string); filepath.IsLocal(name) {
			if err := copyTo(digest, run.File(name)); err != nil {
				return "", err
			}
		}
	}
	return hex.EncodeToString(digest.Sum(nil))[:12], nil
}

// copyTo writes the content of a file, if there is one.
func copyTo(w io.Writer, path string) error {
	file, err := readfile.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = io.Copy(w, file)
	return err
}

func remove(fields map[string]any, names []string) {
	for _, name := range names {
		delete(fields, name)
	}
}
