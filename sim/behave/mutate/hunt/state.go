package hunt

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/behave/mutate"
)

// The files in a hunt's folder from which a later hunt continues.
const (
	baselineFile = "baseline.json"
	resultsFile  = "mutants.jsonl" // a result per line; the last one about a mutant is valid
)

// tryFolder is the folder, within a hunt's folder, that has a folder for each run.
const tryFolder = "work"

// state is what a hunt keeps in its folder.
type state struct {
	dir     string
	file    *os.File
	folders *regexp.Regexp // matches the names of this machine's folders in reasons
	wrong   error
}

// openState opens the state in a folder. Only one hunt can have it open.
func openState(dir string) (*state, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, resultsFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil { // until the file is closed
		file.Close()
		return nil, fmt.Errorf("another hunt runs in %s: wait for its end, or choose another folder: %w", dir, err)
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		file.Close()
		return nil, err
	}
	s := &state{dir: dir, file: file, folders: foldersOf(absolute, filepath.Clean(dir))}
	s.endLine()
	return s, s.wrong
}

// foldersOf returns a pattern of the folders in which mutants are tried: those below the hunt's
// folder, under any of its names, and those of subjects.
func foldersOf(hunt ...string) *regexp.Regexp {
	all := []string{regexp.QuoteMeta(filepath.Join(os.TempDir(), "windtunnel-tmp-run-subject-")) + `\d+`}
	for _, name := range hunt {
		all = append(all, regexp.QuoteMeta(filepath.Join(name, tryFolder, "run-"))+`\d+`)
	}
	return regexp.MustCompile("(?:" + strings.Join(all, "|") + ")/")
}

// endLine ends a line that a hunt did not complete, so that the next result has its own.
func (s *state) endLine() {
	text, err := os.ReadFile(filepath.Join(s.dir, resultsFile))
	if err == nil && len(text) > 0 && text[len(text)-1] != '\n' {
		_, err = s.file.WriteString("\n")
	}
	s.wrong = errors.Join(s.wrong, err)
}

func (s *state) close()     { s.wrong = errors.Join(s.wrong, s.file.Close()) }
func (s *state) err() error { return s.wrong }

// baseline returns the baseline of an earlier hunt, or an empty one.
func (s *state) baseline() (b baseline) {
	text, err := os.ReadFile(filepath.Join(s.dir, baselineFile))
	if err != nil || json.Unmarshal(text, &b) != nil {
		return baseline{}
	}
	return b
}

func (s *state) keepBaseline(b baseline) error {
	text, err := json.Marshal(b)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(s.dir, baselineFile), text, 0o644)
}

// results returns the results of earlier hunts, by the name of the mutant. A line that was not
// completed is left out.
func (s *state) results() map[string]mutate.Result {
	all := map[string]mutate.Result{}
	text, err := os.ReadFile(filepath.Join(s.dir, resultsFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.wrong = errors.Join(s.wrong, err)
	}
	for line := range bytes.Lines(text) {
		var r mutate.Result
		if json.Unmarshal(line, &r) == nil {
			all[r.Name] = r
		}
	}
	return all
}

// compact rewrites the results, one line for each mutant, sorted by name. It drops results about
// lines whose text differs from that in these mutants.
func (s *state) compact(mutants []mutate.Mutant) {
	lines := map[string]mutate.Mutant{}
	for _, m := range mutants {
		lines[m.Name] = m
	}
	all := s.results()
	maps.DeleteFunc(all, func(name string, r mutate.Result) bool {
		return r.File != "" && (r.Was != lines[name].Was || r.Now != lines[name].Now)
	})
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s.wrong = errors.Join(s.wrong, encoder.Encode(all[name]))
	}
	path := filepath.Join(s.dir, resultsFile)
	s.wrong = errors.Join(s.wrong, os.WriteFile(path+".new", text.Bytes(), 0o644))
	if s.wrong == nil {
		s.wrong = os.Rename(path+".new", path)
	}
}

func (s *state) keep(r mutate.Result) {
	r.Why = s.folders.ReplaceAllString(r.Why, "")
	text, err := json.Marshal(r)
	if err == nil {
		_, err = s.file.Write(append(text, '\n'))
	}
	s.wrong = errors.Join(s.wrong, err)
}
