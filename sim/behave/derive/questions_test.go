package derive_test

import (
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
)

// casesOf derives the cases of manifests.
func casesOf(t *testing.T, text string) []*derive.Case {
	t.Helper()
	manifests, err := manifest.Parse("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return derive.Of(manifests, options).Cases
}

// requests returns the request lines of the steps about something.
func requests(c *derive.Case, about string) (all []string) {
	for _, step := range c.Steps {
		if step.Request.Request != "" && slices.Contains(step.About, about) {
			all = append(all, step.Request.Request)
		}
	}
	return all
}

// The controller reads True, t and 1 as true.
func TestBoolsAreReadAsTheControllerDoes(t *testing.T) {
	for _, value := range []string{"true", "True", "1"} {
		c := derived(t, strings.ReplaceAll(shop, `canary: "true"`, `canary: "`+value+`"`))
		weighed := func(s behave.Step) bool { return s.Times > 1 && slices.Contains(s.About, "annotation/canary-weight") }
		if !slices.ContainsFunc(c.Steps, weighed) {
			t.Errorf("canary: %q: the weight of the canary is not asked", value)
		}
	}
}
