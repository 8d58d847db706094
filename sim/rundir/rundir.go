// Package rundir is the folder of a run: its files, their names, and how they are written
// and read. It stands between the runs and everything that reads a run later, such as
// windtunnel report and windtunnel compare. Its one rule: it knows files, and not how a run
// is made, so that an old run can be measured and reported again.
package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/corpus/dump"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/scenario"
)

// The files of a run's folder. The logs of the subjects are in folders beside them.
const (
	Events   = "events.jsonl"
	Scenario = "scenario.yaml"
	Result   = "result.json"
	Page     = "report.html"
	Markdown = "report.md"
	JUnit    = "junit.xml"
	Bench    = "bench.txt"
)

var files = []string{Events, Scenario, Result, Page, Markdown, JUnit, Bench}

// Dir is the path of a run's folder.
type Dir string

// File returns the path of one of its files.
func (d Dir) File(name string) string { return filepath.Join(string(d), name) }

// Default makes a folder for results without --out, and returns its path: runs/NAME-TIME, or
// runs/NAME-TIME-2 and so on if others began in the same second.
func Default(name string, now time.Time) (string, error) {
	first := filepath.Join("runs", name+"-"+now.Format("20060102-150405"))
	if err := os.MkdirAll(filepath.Dir(first), 0o755); err != nil {
		return "", err
	}
	path := first
	for n := 2; ; n++ {
		err := os.Mkdir(path, 0o755)
		if !errors.Is(err, fs.ErrExist) {
			return path, err
		}
		path = fmt.Sprintf("%s-%d", first, n)
	}
}

// Create makes the folder of a run, with the scenario in it, so that the reports can be made again.
// The scenario is a copy of its file, unless rewritten says that it differs from the file. If the
// folder already contains a run or the results of another command, Create returns an error.
func Create(path string, s *scenario.Scenario, rewritten bool) (Dir, error) {
	d := Dir(path)
	if _, err := os.Stat(d.File(Events)); err == nil {
		return "", fmt.Errorf("%s holds a run already: choose another --out", path)
	}
	if _, err := os.Stat(d.File(Result)); err == nil {
		return "", fmt.Errorf("%s holds other results already, in %s: choose another --out", path, Result)
	}
	kept := keptOf(s)
	if name := cmp.Or(kept.Population.Recording, kept.Population.Cluster); slices.Contains(files, name) {
		return "", fmt.Errorf("the population's file has the name of a file of the run, %s: rename it", name)
	}
	text, err := Text(s, rewritten)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(path, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(d.File(Scenario), text, 0o644); err != nil {
		return "", err
	}
	if name := s.Population.Recording; name != "" {
		return d, Copy(filepath.Join(filepath.Dir(s.File), name), d.File(name))
	}
	if name := kept.Population.Cluster; name != "" {
		return d, copyCluster(s.ClusterFile(), d.File(name))
	}
	return d, nil
}

// Discard removes what Create made, and the log, of a run of s that measured nothing, so that the next
// run can have the folder. If a subject left a log, that stays, with the scenario.
func (d Dir) Discard(s *scenario.Scenario) error {
	err := os.Remove(d.File(Events))
	for _, one := range s.Subjects {
		if left := os.Remove(d.File(one.Name)); left != nil && !errors.Is(left, fs.ErrNotExist) {
			return err // it is not empty
		}
	}
	population := keptOf(s).Population
	for _, name := range []string{Scenario, population.Recording, population.Cluster} {
		if name != "" {
			err = errors.Join(err, os.Remove(d.File(name)))
		}
	}
	_ = os.Remove(string(d)) // unless it has files of others
	return err
}

// Text returns the scenario as the folder of its run keeps it; see Create.
func Text(s *scenario.Scenario, rewritten bool) ([]byte, error) {
	kept := keptOf(s)
	if rewritten || s.Located || kept.Population.Cluster != s.Population.Cluster {
		return kept.Marshal()
	}
	return readfile.Read(s.File, scenario.Largest)
}

// keptOf returns the scenario with a path of its cluster's file that is within the folder.
func keptOf(s *scenario.Scenario) *scenario.Scenario {
	kept := *s
	if cluster := s.Population.Cluster; cluster != "" && !filepath.IsLocal(cluster) {
		kept.Population.Cluster = filepath.Base(cluster)
	}
	return &kept
}

// copyCluster copies the file of a cluster as an import writes it: without private keys and passwords,
// even if the file has some.
func copyCluster(from, to string) error {
	manifests, err := manifest.Load(from)
	if err != nil {
		return err
	}
	sanitised, err := dump.Of(manifests, dump.Options{})
	if err != nil {
		return err
	}
	text, err := sanitised.Manifests()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}
