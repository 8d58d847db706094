package behave_test

import (
	"slices"
	"testing"

	"windtunnel.dev/sim/behave"
)

func TestSetting(t *testing.T) {
	for covers, want := range map[string]string{
		"annotation/a":         "annotation/a",
		"annotation/a=default": "annotation/a",
		"config/a=bad":         "config/a",
		"config/a=edge":        "config/a",
		"annotation/a=scope":   "annotation/a",
		"annotation/a=other":   "annotation/a=other",
		"annotation/a=bad=bad": "annotation/a=bad",
	} {
		if got := behave.Setting(covers); got != want {
			t.Errorf("%s: %s, want %s", covers, got, want)
		}
	}
}

func TestSettings(t *testing.T) {
	c := behave.Case{Spec: behave.Spec{Covers: []string{"annotation/b=bad", "annotation/a", "annotation/b=edge"}}}
	if got, want := c.Settings(), []string{"annotation/b", "annotation/a"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
