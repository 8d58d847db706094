package regexample_test

import (
	"slices"
	"testing"

	"windtunnel.dev/internal/regexample"
)

func TestExamples(t *testing.T) {
	for pattern, want := range map[string][]string{
		`/api(/|$)(.*)`:          {"/api/windtunnel", "/api"},
		`/v[0-9]+/.*\.json`:      {"/v0/windtunnel.json", "/v0/.json"},
		`/(foo|ba)/x?`:           {"/foo/x", "/ba/"},
		`/a{3}`:                  {"/aaa"},
		`/plain`:                 {"/plain"},
		`/(?!private).*`:         nil, // Go has no lookahead
		`/[`:                     nil,
		`^/anchored/[[:alpha:]]`: {"/anchored/w"},
	} {
		if got := regexample.All(pattern); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", pattern, got, want)
		}
	}
}
