package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"windtunnel.dev/sim/behave"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/rundir"
)

// earlierCases are the results of an earlier run that this run continues. The zero value means that
// there is no earlier run.
type earlierCases struct {
	document *casereport.Document
	kept     map[string]behave.Result // by the name of a case
}

// resumeCases reads the earlier results in a folder, which a run of the target continues.
func resumeCases(dir rundir.Dir, target caseTarget) (earlierCases, error) {
	file, err := os.Open(dir.File(rundir.Result))
	if errors.Is(err, fs.ErrNotExist) {
		return earlierCases{}, fmt.Errorf("%s holds no run to continue: omit --resume", dir)
	}
	if err != nil {
		return earlierCases{}, err
	}
	defer file.Close()
	document, err := casereport.ReadJSON(file)
	if err != nil {
		return earlierCases{}, fmt.Errorf("%s: %w", file.Name(), err)
	}
	_, err = os.Stat(dir.File(changesFile))
	live, driver := err == nil, target.Driver.Name()
	switch {
	case document.Subject != target.name || document.Driver != driver:
		return earlierCases{}, fmt.Errorf("%s holds a run of %s with the driver %s, not of %s with the driver %s: choose another --out", dir, document.Subject, document.Driver, target.name, driver)
	case live && !target.live:
		return earlierCases{}, fmt.Errorf("%s holds a live run: add --live, or choose another --out", dir)
	case !live && target.live:
		return earlierCases{}, fmt.Errorf("%s holds a run that was not live: omit --live, or choose another --out", dir)
	}
	document.Cases = slices.DeleteFunc(document.Cases, func(c casereport.Case) bool {
		_, err := os.Stat(c.File)
		return errors.Is(err, fs.ErrNotExist) // it was renamed or removed
	})
	return earlierCases{document: &document, kept: concluded(document, target.Cases)}, nil
}

// concluded returns the results that the run can keep: those of cases that were run, have nothing
// to fix, and have not changed since.
func concluded(d casereport.Document, cases []*behave.Case) map[string]behave.Result {
	kept := map[string]behave.Result{}
	for _, c := range d.Cases {
		if !c.Outcome.Bad() {
			kept[c.Case] = c.Result
		}
	}
	for _, c := range cases {
		if info, err := os.Stat(c.File); err != nil || info.ModTime().After(d.Start) {
			delete(kept, c.Name)
		}
	}
	return kept
}

// left returns the cases whose results are not kept.
func (e earlierCases) left(cases []*behave.Case) []*behave.Case {
	return slices.DeleteFunc(slices.Clone(cases), func(c *behave.Case) bool {
		_, ok := e.kept[c.Name]
		return ok
	})
}

// with merges the results of this run into the earlier document. A new result replaces the earlier
// one of the same case.
func (e earlierCases) with(found casereport.Document) casereport.Document {
	if e.document == nil {
		return found
	}
	return e.document.With(found)
}

// resumedLogs returns the folder for the logs of controllers of a run that continues another.
func resumedLogs(dir rundir.Dir, now time.Time) string {
	return dir.File("resumed-" + now.UTC().Format("20060102T150405Z"))
}
