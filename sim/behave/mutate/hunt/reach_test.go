package hunt

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/mutate"
)

// caseOf returns a case with an ingress for a host.
func caseOf(name, host string) *behave.Case {
	object := &unstructured.Unstructured{Object: map[string]any{
		"kind": "Ingress", "spec": map[string]any{"rules": []any{map[string]any{"host": host}}},
	}}
	return &behave.Case{Name: name, Manifests: []behave.Manifest{{Object: object}}}
}

// A line that is executed for the host of a case is reached by that case only. A line that is executed
// for another host, or outside of requests, is reached by all cases.
func TestReachFollowsHosts(t *testing.T) {
	a, wild, failed := caseOf("a", "a.example"), caseOf("wild", "*.wild.example"), caseOf("failed", "failed.example")
	r := newReach(map[string]*behave.Case{"a": a, "wild": wild, "failed": failed})
	line := func(site string) map[string]bool { return map[string]bool{site: true} }
	r.add(mutate.Reached{
		Everywhere: line("x.lua:1"),
		Servers: map[string]map[string]bool{
			"a.example": line("x.lua:2"), "www.a.example": line("x.lua:3"), "one.wild.example": line("x.lua:4"),
			"127.0.0.1": line("x.lua:5"), "failed.example": line("x.lua:6"),
		},
	}, []*behave.Case{a, wild, failed})
	got := map[string][]string{}
	r.into(got, []string{"wild", "a"})
	want := map[string][]string{
		"x.lua:1": {"a", "wild"}, "x.lua:2": {"a"}, "x.lua:3": {"a"}, "x.lua:4": {"wild"}, "x.lua:5": {"a", "wild"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A condition that is never true has an effect only under cases for which it holds.
func TestCasesThatEnterABranch(t *testing.T) {
	never := mutate.Mutant{Name: "lua/x.lua:5/never", Kind: mutate.Lua, File: "x.lua", Line: 5, Reach: 5, Branch: []int{6, 7}}
	deleted := mutate.Mutant{Name: "lua/x.lua:5/delete", Kind: mutate.Lua, File: "x.lua", Line: 5, Reach: 5}
	h := &hunt{able: []string{"a", "b", "c"}, traced: true, reach: map[string][]string{"x.lua:5": {"a", "b", "c"}, "x.lua:7": {"b"}}}
	if got := h.reaching(never); !slices.Equal(got, []string{"b"}) {
		t.Errorf("%v enter the branch, want b", got)
	}
	if got := h.reaching(deleted); len(got) != 3 {
		t.Errorf("%v reach the line, want all", got)
	}
}

// Cases in different namespaces can have the same host, one after the other.
func TestCasesThatShareAHost(t *testing.T) {
	a, b := caseOf("a", "shop.example"), caseOf("b", "shop.example")
	for _, c := range []*behave.Case{a, b} {
		r := newReach(map[string]*behave.Case{"a": a, "b": b})
		r.add(mutate.Reached{Servers: map[string]map[string]bool{"shop.example": {"x.tmpl:1": true}}}, []*behave.Case{c})
		got := map[string][]string{}
		r.into(got, []string{"a", "b"})
		if !slices.Equal(got["x.tmpl:1"], []string{c.Name}) {
			t.Errorf("the line is reached by %v, want %s", got["x.tmpl:1"], c.Name)
		}
	}
}
