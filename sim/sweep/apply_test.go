package sweep_test

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/sweep"
)

// text is a scenario with constructs that are hard to edit: comments, an anchor, a merge and a manifest.
const text = `# A story.
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  config: &config {worker-processes: "2"} # few
  subjects:
  - {name: a, flags: {v: "2"}, config: *config}
  - name: b
    config:
      <<: *config
      keep-alive: "3"
  - name: c
    config: {<<: *config}
  population: {services: 10}
  traffic:
  - {lane: http, rate: 10/s}
  timeline:
  - {at: 0s, churn: rolling-update, rate: 1/s, for: 2s}
  - {at: 1s, apply: other}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
data: {a: "1"}
`

func load(text []byte) (*scenario.Scenario, error) {
	return scenario.LoadAs("story.yaml", text, scenario.Known{})
}

func TestSet(t *testing.T) {
	for _, test := range []struct {
		path, value string
		of          func(*scenario.Scenario) any
		want        any
	}{
		{"population.services", "500", func(s *scenario.Scenario) any { return s.Population.Services }, 500},
		{"population.services", "500", func(s *scenario.Scenario) any { return s.Population.Ingresses }, 500}, // its default follows
		{"population.tls", "true", func(s *scenario.Scenario) any { return s.Population.TLS }, true},
		{"traffic.0.rate", "2/s", func(s *scenario.Scenario) any { return s.Traffic[0].Rate.String() }, "2/s"},
		{"config.worker-shutdown-timeout", "10s", func(s *scenario.Scenario) any { return s.Config["worker-shutdown-timeout"] }, "10s"},
		{"config.x", "null", func(s *scenario.Scenario) any { return s.Config["x"] }, "null"},
		{"config.x", "a: {b}\n# c", func(s *scenario.Scenario) any { return s.Config["x"] }, "a: {b}\n# c"},
		{"subjects.0.flags.v", "5", func(s *scenario.Scenario) any { return s.Subjects[0].Flags["v"] }, "5"},
		{"subjects.1.flags.new", "5", func(s *scenario.Scenario) any { return s.Subjects[1].Flags["new"] }, "5"},
		{"subjects.0.config.worker-processes", "4", func(s *scenario.Scenario) any { return s.Subjects[0].Config["worker-processes"] }, "4"},
		{"subjects.0.config.worker-processes", "4", func(s *scenario.Scenario) any { return s.Config["worker-processes"] }, "2"}, // the anchor keeps its value
		{"subjects.1.config.keep-alive", "9", func(s *scenario.Scenario) any { return s.Subjects[1].Config["worker-processes"] }, "2"},
		{"timeline.0.drain", "0s", func(s *scenario.Scenario) any { return s.Timeline[0].Drain.String() }, "0s"},
		{"rounds", "2", func(s *scenario.Scenario) any { return len(s.Manifests) }, 1},
	} {
		changed, err := sweep.Set([]byte(text), test.path, test.value)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
			continue
		}
		s, err := load(changed)
		if err != nil {
			t.Errorf("%s: %v", test.path, err)
		} else if got := test.of(s); got != test.want {
			t.Errorf("%s=%s: %v, want %v", test.path, test.value, got, test.want)
		}
		if value, err := sweep.Value(changed, test.path); err != nil || value != test.value {
			t.Errorf("%s: the text has %q, %v", test.path, value, err)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	for _, test := range []struct{ path, value, want string }{
		{"population.services", "null", `"null" is not a value`},
		{"population.services", "", `"" is not a value`},
		{"traffic.1.rate", "1/s", "there is no item 1: the list of the scenario's file has 1"},
		{"expect.0", "reloads == 0", "there is no item 0"},
		{"subjects.2.config.x", "1", "is merged from another mapping"},
		{"no.such", "1", "spec has no field no"},
	} {
		if _, err := sweep.Set([]byte(text), test.path, test.value); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: %v, want %s", test.path, test.value, err, test.want)
		}
	}
	for _, none := range []string{"", "  subjects: []\n", "  subjects:\n"} {
		without := "apiVersion: windtunnel.dev/v1\nkind: Scenario\nmetadata: {name: story}\nspec:\n  seed: 1\n" + none
		want := "subjects.0.flags.v: the scenario lists no subjects: add subjects: [{name: bundled}] to its spec"
		if _, err := sweep.Set([]byte(without), "subjects.0.flags.v", "1"); err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", none, err, want)
		}
	}
	for _, bad := range []string{"", "a: [", "- 1", "text"} {
		if _, err := sweep.Set([]byte(bad), "population.services", "1"); err == nil {
			t.Errorf("%q was changed", bad)
		}
	}
}

// Set refuses a value, or changes exactly this value, whatever it contains.
func FuzzSet(f *testing.F) {
	for _, value := range []string{"1", "", "null", "a, b", "x: y", "- z", "'", `"`, "\n---\n", "&a", "*config", "!!int 1", "# c", "\x00", "\ufeff"} {
		f.Add("population.services", value)
		f.Add("config.worker-processes", value)
		f.Add("subjects.0.config.worker-processes", value)
	}
	before, err := load([]byte(text))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, path, value string) {
		changed, err := sweep.Set([]byte(text), path, value)
		if err != nil {
			return
		}
		if got, err := sweep.Value(changed, path); err != nil || got != value {
			t.Errorf("%s=%q: the text has %q, %v", path, value, got, err)
		}
		s, err := load(changed)
		if err != nil {
			return
		}
		if len(s.Manifests) != len(before.Manifests) || s.Name != before.Name {
			t.Errorf("%s=%q changed the name or the manifests", path, value)
		}
	})
}

// A value with an anchor keeps it, and its aliases get the new value.
func TestSetKeepsAnchors(t *testing.T) {
	changed, err := sweep.Set([]byte(strings.Replace(text, "{services: 10}", "{services: &n 10, pods: *n}", 1)), "population.services", "20")
	if err != nil {
		t.Fatal(err)
	}
	s, err := load(changed)
	if err != nil {
		t.Fatal(err)
	}
	if s.Population.Services != 20 || s.Population.Pods != 20 {
		t.Errorf("population %+v", s.Population)
	}
}
