package rundir

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// Find returns the folder at path if it is that of a measured run, or else all folders of
// measured runs in it. It is an error if there are none.
func Find(path string) ([]Dir, error) {
	if _, err := os.Stat(Dir(path).File(Result)); err == nil {
		return []Dir{Dir(path)}, nil
	}
	files, err := filepath.Glob(filepath.Join(path, "*", Result))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no %s, nor does a folder in it: is it a run's folder?", path, Result)
	}
	var dirs []Dir
	for _, file := range files {
		dirs = append(dirs, Dir(filepath.Dir(file)))
	}
	return dirs, nil
}

// Results reads the results of the runs that Find finds, in the order in which the runs were
// made.
func Results(path string) ([]measure.Result, error) {
	dirs, err := Find(path)
	if err != nil {
		return nil, err
	}
	var results []measure.Result
	for _, d := range dirs {
		result, err := d.Result()
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	slices.SortStableFunc(results, func(a, b measure.Result) int { return a.Run.Start.Compare(b.Run.Start) })
	return results, nil
}

// Result reads the result of the run.
func (d Dir) Result() (measure.Result, error) {
	file, err := readfile.Open(d.File(Result))
	if err != nil {
		return measure.Result{}, err
	}
	defer file.Close()
	result, _, err := report.ReadJSON(file)
	if err != nil {
		return measure.Result{}, fmt.Errorf("%s: %w", d.File(Result), err)
	}
	return result, nil
}
