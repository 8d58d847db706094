package rundir

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// Find returns the folder below if it is that of a measured run, or else all folders of
// measured runs in it. It is an error if there are none. Results of other commands have the same file
// name: Find leaves out their folders, unless below is one of them, which is an error.
func Find(below string) ([]Dir, error) {
	if info, err := os.Stat(below); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: name the folder of the run, %s", below, filepath.Dir(below))
	}
	if _, err := os.Stat(Dir(below).File(Result)); err == nil {
		if other := Dir(below).otherResult(); other != "" {
			return nil, fmt.Errorf("%s is the result of %s, not of a run: name the folder of a run, or a folder of such folders", Dir(below).File(Result), other)
		}
		return []Dir{Dir(below)}, nil
	}
	files, err := readfile.Glob(below, "*/"+Result)
	if err != nil {
		return nil, err
	}
	var dirs []Dir
	for _, file := range files {
		if d := Dir(filepath.Dir(file)); d.otherResult() == "" {
			dirs = append(dirs, d)
		}
	}
	switch {
	case len(files) == 0:
		return nil, fmt.Errorf("%s holds no %s, nor does a folder in it: is it a run's folder?", below, Result)
	case len(dirs) == 0:
		return nil, fmt.Errorf("no folder in %s is that of a run: the first is that of %s", below, Dir(filepath.Dir(files[0])).otherResult())
	}
	return dirs, nil
}

// otherKinds are the commands that write a Result of another kind than a run does, by the kind in its
// schema.
var otherKinds = map[string]string{"sweep": "a sweep", "case-result": "behaviour cases"}

// otherResult says what made the folder's result, or "" if that is a run. A result without a schema
// counts as that of a run: its reader reports the error.
func (d Dir) otherResult() string {
	file, err := readfile.Open(d.File(Result))
	if err != nil {
		return ""
	}
	defer file.Close()
	var head struct{ Schema string }
	_ = json.NewDecoder(file).Decode(&head)
	kind := path.Base(path.Dir(head.Schema)) // windtunnel.dev/KIND/VERSION
	return otherKinds[kind]
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
