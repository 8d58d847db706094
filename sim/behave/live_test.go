package behave_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/behave"
)

// liveCase returns a case with these lines of its spec, an ingress with annotations a and b, and one
// with annotation c that a step applies.
func liveCase(t *testing.T, spec string) *behave.Case {
	t.Helper()
	c, err := behave.Parse("cases/live/a.yaml", []byte(`apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: a case
`+spec+`
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations: {nginx.ingress.kubernetes.io/a: "1", nginx.ingress.kubernetes.io/b: "2"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: later
  annotations: {nginx.ingress.kubernetes.io/c: "1", windtunnel.dev/manifest: later}
`), behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const requestThenChange = `
  pods: {web: {}}
  steps:
  - request: GET http://a.example/
    expect: {status: 200}
  - apply: later
    expect: {reload: true}
  - request: GET http://a.example/later
    expect: {status: 200}`

func TestLiveChanges(t *testing.T) {
	for name, test := range map[string]struct {
		spec string
		want []behave.LiveChange
	}{
		"what can be changed, and why the rest cannot": {
			"  covers: [annotation/a, annotation/c, annotation/d=default, config/k, config/l, config/m=bad, flag/f]\n  config: {k: \"1\", m: x}\n  flags: {f: \"1\"}" +
				strings.Replace(requestThenChange, "- apply: later", "- config: {l: \"1\"}\n  - apply: later", 1),
			[]behave.LiveChange{
				{Covers: "annotation/a"},
				{Covers: "annotation/c", Outcome: behave.Skipped, Reason: "a step applies it, so the case itself is a live change"},
				{Covers: "annotation/d", Outcome: behave.Skipped, Reason: "the case shows a default"},
				{Covers: "config/k"},
				{Covers: "config/l", Outcome: behave.Skipped, Reason: "a step sets it, so the case itself is a live change"},
				{Covers: "config/m", Outcome: behave.Skipped, Reason: "the invalid value has the same effect as none"},
				{Covers: "flag/f", Outcome: behave.Skipped, Reason: "a flag takes effect at the start of the controller"},
			},
		},
		"no request before the first change": {
			"  covers: [annotation/a]\n  pods: {web: {}}\n  steps:\n  - apply: later\n    expect: {reload: true}",
			[]behave.LiveChange{{Covers: "annotation/a", Outcome: behave.Skipped, Reason: "the first step is a change"}},
		},
		"a request in the background": {
			"  covers: [annotation/a]" + strings.Replace(requestThenChange, "a.example/\n", "a.example/\n    background: true\n", 1),
			[]behave.LiveChange{{Covers: "annotation/a", Outcome: behave.Skipped, Reason: "a request is answered while other steps run"}},
		},
		"an ingress that is rejected": {
			"  covers: [annotation/a, annotation/b]\n  earlier: [annotation/b]" + requestThenChange,
			[]behave.LiveChange{{Covers: "annotation/a"}, {Covers: "annotation/b", Earlier: true}},
		},
	} {
		if diff := cmp.Diff(test.want, liveCase(t, test.spec).LiveChanges()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Without removes one setting from the initial manifests or ConfigMap, and does not change the case itself.
func TestWithout(t *testing.T) {
	c := liveCase(t, "  covers: [annotation/a, config/k]\n  config: {k: \"1\", l: \"2\"}"+requestThenChange)
	annotations := func(of *behave.Case, i int) map[string]string { return of.Manifests[i].Object.GetAnnotations() }
	bare := c.Without("annotation/a")
	if diff := cmp.Diff(map[string]string{"nginx.ingress.kubernetes.io/b": "2"}, annotations(bare, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(annotations(c, 0)) != 2 || c.Manifests[1].Object != bare.Manifests[1].Object {
		t.Error("the case or another manifest changed as well")
	}
	bare = c.Without("config/k")
	if diff := cmp.Diff(map[string]string{"l": "2"}, bare.Config); diff != "" || len(c.Config) != 2 || bare.Manifests[0].Object != c.Manifests[0].Object {
		t.Errorf("(-want +got):\n%s; the case has %v", diff, c.Config)
	}
	if still := c.Still(); len(still.Steps) != 1 || len(c.Steps) != 3 {
		t.Errorf("%d steps before the first change", len(still.Steps))
	}
}

// A run repeats only requests that fail before a change, and that it may repeat.
func TestWatchable(t *testing.T) {
	c := liveCase(t, `
  pods: {web: {}}
  steps:
  - {request: GET http://a.example/holds, expect: {status: 200}}
  - {request: GET http://a.example/plain, expect: {status: 200}}
  - {request: GET http://a.example/times, times: 3, expect: {statuses: {200: 3}}}
  - {request: GET http://a.example/took, expect: {took: {min: 1s}}}
  - {request: GET http://a.example/first, jar: a, expect: {status: 200}}
  - {request: GET http://a.example/again, jar: a, expect: {status: 200}}
  - apply: later`)
	var failing []behave.Failure
	for _, step := range c.Steps[1:6] {
		failing = append(failing, behave.Failure{Line: step.Line, Field: "status"})
	}
	var got []string
	for _, step := range c.Watchable(failing) {
		got = append(got, strings.TrimPrefix(step.Request.Request, "GET http://a.example/"))
	}
	if diff := cmp.Diff([]string{"plain", "first"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Pods["web"] = behave.Pods{Rules: []behave.Rule{{First: 1}}}
	if got := c.Watchable(failing); got != nil {
		t.Errorf("with pods that count requests: %v", got)
	}
}

func TestConcludeLive(t *testing.T) {
	c := liveCase(t, requestThenChange)
	for name, test := range map[string]struct {
		changes []behave.LiveChange
		differs string
		want    behave.Outcome
		reason  string
	}{
		"nothing covered": {nil, "", behave.Skipped, "the case covers no annotation and no ConfigMap key"},
		"nothing applies": {[]behave.LiveChange{{Outcome: behave.Skipped, Reason: "a"}, {Outcome: behave.Skipped, Reason: "b"}, {Outcome: behave.Skipped, Reason: "a"}}, "", behave.Skipped, "a; b"},
		"one applies":     {[]behave.LiveChange{{Outcome: behave.Skipped, Reason: "a"}, {Outcome: behave.Passed}}, "", behave.Passed, ""},
		"as it admits":    {[]behave.LiveChange{{Outcome: behave.Passed}}, "compat.md#row", behave.Differs, "compat.md#row"},
		"one is void":     {[]behave.LiveChange{{Outcome: behave.Void, Reason: "a"}, {Outcome: behave.Passed}}, "", behave.Void, "a"},
		"one fails":       {[]behave.LiveChange{{Outcome: behave.Failed}, {Outcome: behave.Void, Reason: "a"}}, "compat.md#row", behave.Failed, ""},
	} {
		c.Differs = test.differs
		if got := behave.ConcludeLive(c, test.changes, nil, true); got.Outcome != test.want || got.Reason != test.reason {
			t.Errorf("%s: %s, with the reason %q", name, got.Outcome, got.Reason)
		}
	}
}

// The failure of a live change names what was changed.
func TestFailuresOfLiveChanges(t *testing.T) {
	c := liveCase(t, requestThenChange)
	failures := []behave.Failure{{File: c.File, Line: c.Steps[0].Line, Step: "GET http://a.example/", Field: "status", Got: "404", Want: "200"}}
	for want, got := range map[string]behave.Failure{
		"cases/live/a.yaml:8: annotation/a is set, late: GET http://a.example/: status is 404, want 200":                             c.Unlike("annotation/a is set", "late", failures, nil)[0],
		"cases/live/a.yaml:8: annotation/a is removed, late: the list of failed expectations is nothing, want line 8: status is 404": c.Unlike("annotation/a is removed", "late", nil, failures)[0],
	} {
		if got.Error() != want {
			t.Errorf("%s\nwant %s", got.Error(), want)
		}
	}
}
