package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// void makes run folders that are void so many times, and then end with err.
func void(t *testing.T, dir string, times int, err error) (run func() error, made *int) {
	made = new(int)
	return func() error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if *made++; *made <= times {
			return verdict(exitVoid)
		}
		return err
	}, made
}

func TestAVoidRunIsMadeAgain(t *testing.T) {
	broken := errors.New("no room")
	for _, test := range []struct {
		name       string
		voids      int
		err, want  error
		made, kept int
	}{
		{"valid", 0, nil, nil, 1, 0},
		{"void once", 1, nil, nil, 2, 1},
		{"void for ever", tries, nil, verdict(exitVoid), tries, tries - 1},
		{"broken", 0, broken, broken, 1, 0},
		{"void, then broken", 1, broken, broken, 2, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			out := t.TempDir()
			dir := filepath.Join(out, "head", "01")
			run, made := void(t, dir, test.voids, test.err)
			var stderr strings.Builder
			err := untilValid(dir, filepath.Join(out, "void", "head-01"), &stderr, run)
			if !errors.Is(err, test.want) || *made != test.made {
				t.Errorf("%v after %d runs, want %v after %d", err, *made, test.want, test.made)
			}
			kept, _ := filepath.Glob(filepath.Join(out, "void", "head-01-*"))
			if len(kept) != test.kept {
				t.Errorf("kept %v, want %d", kept, test.kept)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Errorf("the last run is not in its place: %v", err)
			}
			if told := strings.Contains(stderr.String(), "busy?"); told != errors.Is(test.want, verdict(exitVoid)) {
				t.Errorf("told %q", stderr.String())
			}
		})
	}
}
