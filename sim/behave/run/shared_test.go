package run

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/subject"
)

// Of n controllers, each is reached by the connections with a probability of at least 1-unseen, and
// one connection less would not be enough.
func TestConnectionsReachEveryController(t *testing.T) {
	for n, want := range map[int]int{0: steady, 1: steady, 2: 21, 3: 37, 10: 153} {
		if got := steadyAmong(n); got != want {
			t.Errorf("%d controllers: %d connections, want %d", n, got, want)
		}
	}
	for n := 2; n < 50; n++ {
		missed := func(k int) float64 { return float64(n) * math.Pow(1-1/float64(n), float64(k)) }
		if k := steadyAmong(n); missed(k) > unseen || missed(k-1) <= unseen {
			t.Errorf("%d controllers: after %d connections one is missed with probability %g", n, k, missed(k))
		}
	}
}

// standing is a driver of a standing controller with room for this many pods.
type standing int

func (standing) Name() string                          { return "standing" }
func (standing) UnsupportedCase(c *behave.Case) string { return c.Summary }
func (s standing) Room() int                           { return int(s) }
func (standing) Prepare(context.Context, subject.Subject, driver.Options) (driver.Instance, error) {
	return nil, fmt.Errorf("nothing answers")
}

func withPods(name string, replicas ...int) *behave.Case {
	c := &behave.Case{Name: "topic/" + name}
	c.Pods = map[string]behave.Pods{}
	for i, n := range replicas {
		c.Pods[fmt.Sprint("web-", i)] = behave.Pods{Replicas: &n}
	}
	return c
}

func TestPodsOfCases(t *testing.T) {
	scaled := withPods("scaled", 2)
	scaled.Steps = []behave.Step{{Scale: map[string]int{"web-0": 5}}, {Scale: map[string]int{"web-0": 0}}, {Scale: map[string]int{"web-0": 1}}}
	plain := &behave.Case{Spec: behave.Spec{Pods: map[string]behave.Pods{"web": {}}}}
	for want, c := range map[int]*behave.Case{0: {}, 1: plain, 3: withPods("two", 1, 2), 6: scaled} {
		if got := podsOf(c); got != want {
			t.Errorf("%s: %d pods, want %d", c.Name, got, want)
		}
	}
	if most, all := Pods([]*behave.Case{scaled, plain, {}}); most != 6 || all != 7 {
		t.Errorf("%d and %d pods, want 6 and 7", most, all)
	}
}

// Cases with other flags are in the same group, and the pods of a batch fit into the pool, unless one
// case alone has too many.
func TestStandingControllersHaveOneGroup(t *testing.T) {
	cases := []*behave.Case{withPods("a", 2), withPods("b", 2), withPods("c", 9), withPods("d", 1), withPods("e", 1)}
	cases[1].Flags = map[string]string{"v": "2"}
	own := grouped(cases, ordinary)
	if got := adapt(own, nil); len(got) != 2 || !slices.Equal(got, own) {
		t.Errorf("the groups of other drivers change: %v", got)
	}
	groups := adapt(grouped(cases, ordinary), standing(4))
	if len(groups) != 1 || groups[0].flags != nil {
		t.Fatalf("%d groups", len(groups))
	}
	var got []string
	for _, b := range groups[0].batches {
		var names string
		for _, c := range b.cases {
			names += c.Name[len("topic/"):]
		}
		got = append(got, names)
	}
	if want := []string{"a", "c", "de", "b"}; !slices.Equal(got, want) {
		t.Errorf("batches %q, want %q", got, want)
	}
	if unlimited := adapt(grouped(cases, ordinary), standing(0)); len(unlimited[0].batches) != 2 {
		t.Errorf("%d batches without a limit", len(unlimited[0].batches))
	}
}

// A standing controller that cannot be used ends the run, with one error for all cases.
func TestStandingControllerThatCannotBeUsed(t *testing.T) {
	skipped := withPods("skipped")
	skipped.Summary = "not here"
	results, err := Do(t.Context(), Options{Cases: []*behave.Case{withPods("a"), skipped}, Driver: standing(0), Dir: t.TempDir()})
	if err == nil || err.Error() != "nothing answers" {
		t.Errorf("error %v", err)
	}
	if results[0].Outcome != behave.Void || results[0].Reason != "the run ended before: nothing answers" || results[1].Outcome != behave.Skipped || results[1].Reason != "not here" {
		t.Errorf("%+v", results)
	}
}
