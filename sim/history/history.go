// Package history keeps the results of runs with the commits that they measured, to show how figures
// change over commits (sim/history/trend). Its one rule: each kept run has its own folder, which never
// changes, so that several jobs can add runs to copies of the same history, and git can merge the
// copies.
package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"windtunnel.dev/internal/gitrepo"
)

// Schema is the version of entry.json. Within a version, fields may be added, but none is removed or
// changes its meaning.
const Schema = "windtunnel.dev/history/v1"

// Entry is entry.json: the description of a run in the history, without its figures.
type Entry struct {
	Schema   string         `json:"schema"` // the version of this format
	Commit   gitrepo.Commit `json:"commit"` // what was measured
	Scenario string         `json:"scenario"`
	Start    time.Time      `json:"start"` // of the run
	// Setup contains the properties, by name, that two runs must have in common to be compared: the
	// model and number of processors (cpu, processors), the version of nginx, the driver, the seed,
	// a digest of the scenario, and what the user adds.
	Setup map[string]string `json:"setup"`
	// Environment contains the other known properties of the machine, by name, such as the version
	// of the kernel. A change of one of them may explain a change of figures.
	Environment map[string]string `json:"environment,omitempty"`
	// Report is the address of the run's report: the name of a file in the run's folder, or a URL.
	// Empty if the report is not kept.
	Report string `json:"report,omitempty"`
}

// Run is a kept run.
type Run struct {
	Entry
	// Folder is the path of the run's folder, relative to the history.
	Folder string
	// Figures are the values of the run by subject and figure, in seconds, bytes or plain numbers.
	// Subjects for which the run is void are missing.
	Figures map[string]map[string]float64
}

// SetupID returns a text that is the same for runs with the same setup.
func (e Entry) SetupID() string {
	var id []byte
	for _, name := range slices.Sorted(maps.Keys(e.Setup)) {
		id = fmt.Appendf(id, "%q=%q ", name, e.Setup[name])
	}
	return string(id)
}

// sortRuns sorts runs by commit, and those of a commit by their start. Commits are sorted by time, and
// those of the same second in the order in which they were first measured.
func sortRuns(runs []Run) {
	measured := map[string]time.Time{}
	for _, r := range runs {
		if first, seen := measured[r.Commit.Hash]; !seen || r.Start.Before(first) {
			measured[r.Commit.Hash] = r.Start
		}
	}
	slices.SortStableFunc(runs, func(a, b Run) int {
		return cmp.Or(
			a.Commit.Time.Compare(b.Commit.Time),
			measured[a.Commit.Hash].Compare(measured[b.Commit.Hash]),
			cmp.Compare(a.Commit.Hash, b.Commit.Hash),
			a.Start.Compare(b.Start),
			cmp.Compare(a.Folder, b.Folder))
	})
}

// Newest returns the runs of the newest n commits, or all runs if n is 0. runs are sorted, as Store.Runs
// returns them.
func Newest(runs []Run, n int) []Run {
	commits := 0
	for i := len(runs) - 1; i >= 0; i-- {
		if i == len(runs)-1 || runs[i].Commit.Hash != runs[i+1].Commit.Hash {
			commits++
		}
		if commits > n && n > 0 {
			return runs[i+1:]
		}
	}
	return runs
}
