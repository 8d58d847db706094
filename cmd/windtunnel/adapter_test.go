package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// A result that cannot be printed is an error, also if the check has failed.
func TestAdapterCheckThatCannotBePrinted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // for the log that it keeps
	full := writerFunc(func([]byte) (int, error) { return 0, errors.New("no space left") })
	var stderr bytes.Buffer
	code := Main(t.Context(), []string{"adapter", "check", "ingress-nginx", "--controller=/bin/false"}, full, &stderr)
	if code != exitBadInput || !strings.Contains(stderr.String(), "windtunnel: no space left") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }
