package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// program writes a controller that is this shell script.
func program(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "controller")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// The help of ingress-nginx (pflag, with an exit code), of Go's own package flag, and no help.
func TestSupportedFlags(t *testing.T) {
	for name, test := range map[string]struct {
		help string
		want map[string]bool
	}{
		"pflag, with an error": {
			`printf 'Usage of :\n      --annotations-prefix string   Prefix of the annotations.\n  -v, --v Level                     verbosity\npflag: help requested\n' >&2; exit 2`,
			map[string]bool{"annotations-prefix": true, "v": true},
		},
		"flag":    {`printf 'Usage of x:\n  -log-format string\n    \ttext or json\n'`, map[string]bool{"log-format": true}},
		"nothing": {`true`, map[string]bool{}},
	} {
		got, err := supportedFlags(t.Context(), program(t, test.help))
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestSupportedFlagsOfAFolder(t *testing.T) {
	directory := t.TempDir()
	if _, err := supportedFlags(t.Context(), directory); err == nil || !strings.Contains(err.Error(), directory+" --help") {
		t.Error(err)
	}
}

func TestBundledControllerSupportsOurFlags(t *testing.T) {
	flags, err := supportedFlags(t.Context(), build(t))
	if err != nil || !flags["nginx-root"] || !flags["log-format"] {
		t.Errorf("%v: %v", err, flags)
	}
}
