package history

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"windtunnel.dev/internal/readfile"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
)

// EntryFile is the name of the file that marks the folder of a kept run. The other files have the
// names of sim/rundir.
const EntryFile = "entry.json"

// Store is the folder of a history. It has a folder per scenario, with a folder per run.
type Store string

// VoidError means that a run is not kept because it is void for all subjects.
type VoidError struct{ Run, Why string }

func (e VoidError) Error() string {
	return fmt.Sprintf("%s: the run is void and not kept: %s", e.Run, e.Why)
}

// KeptError means that a run is kept already.
type KeptError struct{ Run, Folder string }

func (e KeptError) Error() string { return fmt.Sprintf("%s is kept already, in %s", e.Run, e.Folder) }

// plainName matches names of scenarios that can be names of folders.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// Add keeps a run: its result, its benchmark lines, the properties in o and, if o says so, its report.
// It returns the run's folder in the history. A VoidError or KeptError means that nothing was kept.
func (s Store) Add(run rundir.Dir, o Options) (folder string, err error) {
	result, err := run.Result()
	if err != nil {
		return "", err
	}
	if why := void(result); why != "" {
		return "", VoidError{Run: string(run), Why: why}
	}
	entry, err := o.entry(run, result)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(run.File(rundir.Result))
	if err != nil {
		return "", err
	}
	if folder, err = folderOf(entry, text); err != nil {
		return "", fmt.Errorf("%s: %w", run, err)
	}
	if _, err := os.Stat(s.path(folder)); err == nil {
		return "", KeptError{Run: string(run), Folder: s.path(folder)}
	}
	var lines bytes.Buffer
	if err := report.Benchmark(&lines, result); err != nil {
		return "", err
	}
	files := map[string][]byte{rundir.Result: text, rundir.Bench: lines.Bytes()}
	if o.KeepReport {
		if files[rundir.Page], err = os.ReadFile(run.File(rundir.Page)); err != nil {
			return "", fmt.Errorf("%w: make it again with windtunnel report %s", err, run)
		}
	}
	return folder, s.write(folder, entry, files)
}

// void returns why the result is void for all subjects, or "" if it is not.
func void(result measure.Result) (why string) {
	why = "it has no valid subject"
	for _, s := range slices.Backward(result.Subjects) {
		if s.Valid {
			return ""
		}
		if len(s.Invalid) > 0 {
			why = s.Name + ": " + s.Invalid[0]
		}
	}
	return why
}

// folderOf returns the folder of a run, within the folder of its scenario. Its name has the commit, the
// start of the run, and a digest of its result.
func folderOf(e Entry, result []byte) (string, error) {
	if !plainName.MatchString(e.Scenario) {
		return "", fmt.Errorf("the scenario's name %q is not a name of letters, digits, dots and dashes", e.Scenario)
	}
	digest := sha256.Sum256(result)
	return filepath.Join(e.Scenario, fmt.Sprintf("%.12s-%s-%x", e.Commit.Hash, e.Start.UTC().Format("20060102T150405"), digest[:4])), nil
}

func (s Store) path(folder string) string { return filepath.Join(string(s), folder) }

// write writes a run's folder atomically.
func (s Store) write(folder string, e Entry, files map[string][]byte) error {
	target := s.path(folder)
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	unfinished, err := os.MkdirTemp(filepath.Dir(target), ".adding-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(unfinished)
	if err := os.Chmod(unfinished, 0o755); err != nil {
		return err
	}
	var entry bytes.Buffer
	if err := report.Indented(&entry, e); err != nil {
		return err
	}
	files[EntryFile] = entry.Bytes()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(unfinished, name), text, 0o644); err != nil {
			return err
		}
	}
	return os.Rename(unfinished, target)
}

// Runs reads all runs, sorted by commit and then by their start. A history without runs is an error.
func (s Store) Runs() ([]Run, error) {
	if _, err := os.Stat(string(s)); err != nil {
		return nil, err
	}
	files, err := readfile.Glob(string(s), "*/[^.]*/"+EntryFile)
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s holds no %s two folders below: is it a history? windtunnel history add makes one", s, EntryFile)
	}
	var runs []Run
	for _, file := range files {
		run, err := read(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		if run.Folder, err = filepath.Rel(string(s), filepath.Dir(file)); err != nil {
			return nil, err
		}
		runs = append(runs, run)
	}
	sortRuns(runs)
	return runs, nil
}

// largest limits the files that are read, in bytes.
const largest = 1 << 20

// read reads the entry and the benchmark lines of a run.
func read(entry string) (run Run, err error) {
	text, err := readfile.Read(entry, largest)
	if err != nil {
		return Run{}, err
	}
	if err := json.Unmarshal(text, &run.Entry); err != nil {
		return Run{}, err
	}
	if run.Schema != Schema {
		return Run{}, fmt.Errorf("the entry is of schema %q, this program reads %q", run.Schema, Schema)
	}
	if run.Commit.Hash == "" || run.Scenario == "" {
		return Run{}, errors.New("the entry lacks the commit or the scenario")
	}
	if !isURL(run.Report) && run.Report != "" && run.Report != rundir.Page {
		return Run{}, fmt.Errorf("report %q: want %s, or a URL", run.Report, rundir.Page)
	}
	lines := filepath.Join(filepath.Dir(entry), rundir.Bench)
	if text, err = readfile.Read(lines, largest); errors.Is(err, fs.ErrNotExist) {
		return Run{}, fmt.Errorf("%s is missing beside it", rundir.Bench)
	} else if err != nil {
		return Run{}, err
	}
	run.Figures, err = parseFigures(text)
	return run, err
}

func isURL(text string) bool {
	return strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://")
}
