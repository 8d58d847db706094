package apply

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/plan"
)

func TestUnfinishedTestsAreNotRejections(t *testing.T) {
	for script, rejects := range map[string]bool{
		"echo 'nginx: [emerg] unknown directive \"x\"' >&2; exit 1": true,
		"exit 1":        true,
		"kill -SEGV $$": true,
		"kill -KILL $$": false,
		"kill -TERM $$": false,
		"":              false, // there is no program
	} {
		binary := filepath.Join(t.TempDir(), "nginx")
		if script != "" {
			if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		layout := Layout{Root: t.TempDir()}
		if err := layout.Make(); err != nil {
			t.Fatal(err)
		}
		err := New(Options{Nginx: &nginx.Nginx{Binary: binary}, Layout: layout}).Try(t.Context(), plan.State{})
		if err == nil {
			t.Errorf("%q: no error", script)
		}
		if got := errors.As(err, new(*Rejection)); got != rejects {
			t.Errorf("%q: a rejection: %v, want %v; the error: %v", script, got, rejects, err)
		}
	}
}
