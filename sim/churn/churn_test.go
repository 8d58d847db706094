package churn_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
)

func population(services, pods int) corpus.Population {
	return corpus.Generate(corpus.Shape{Namespace: "demo", Services: services, Pods: pods, Ingresses: services, Seed: 1})
}

// shapes are populations and churns of many proportions: less than one roll, several turns over all
// services, one pod per service, many changes at once.
var shapes = []struct {
	services, pods int
	options        churn.Options
}{
	{100, 5, churn.Options{Seed: 1, Rate: 5, For: 20 * time.Second}},
	{3, 4, churn.Options{Seed: 2, Rate: 10, For: 7 * time.Second, Start: 3 * time.Second}},
	{1, 1, churn.Options{Seed: 3, Rate: 0.5, For: time.Minute}},
	{20, 1, churn.Options{Seed: 4, Rate: 2000, For: 5 * time.Second}},
	{2, 30, churn.Options{Seed: 5, Rate: 1.0 / 3, For: 100 * time.Second}},
}

func eachShape(t *testing.T, check func(*testing.T, corpus.Population, churn.Options, churn.Stream)) {
	for _, s := range shapes {
		t.Run(fmt.Sprintf("%dx%d", s.services, s.pods), func(t *testing.T) {
			p := population(s.services, s.pods)
			check(t, p, s.options, churn.RollingUpdate(p, s.options))
		})
	}
}

func TestSeedDeterminesChanges(t *testing.T) {
	eachShape(t, func(t *testing.T, p corpus.Population, o churn.Options, s churn.Stream) {
		if diff := cmp.Diff(s, churn.RollingUpdate(p, o)); diff != "" {
			t.Errorf("the same seed generated different changes:\n%s", diff)
		}
		o.Seed += 100
		if reflect.DeepEqual(s, churn.RollingUpdate(p, o)) {
			t.Error("another seed generated the same changes")
		}
	})
}

func TestPopulationIsNotModified(t *testing.T) {
	p := population(3, 3)
	churn.RollingUpdate(p, churn.Options{Seed: 1, Rate: 10, For: 10 * time.Second})
	if diff := cmp.Diff(population(3, 3), p); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}

// TestChangesAreSpreadEvenly checks that there are as many changes as requested, one in each time
// slot.
func TestChangesAreSpreadEvenly(t *testing.T) {
	eachShape(t, func(t *testing.T, _ corpus.Population, o churn.Options, s churn.Stream) {
		want := int(o.Rate*o.For.Seconds() + 0.5)
		if len(s.Changes) != want {
			t.Fatalf("got %d changes, want %d", len(s.Changes), want)
		}
		slot := o.For.Seconds() / float64(want)
		offsets := map[time.Duration]bool{}
		for i, c := range s.Changes {
			if c.ID != i+1 {
				t.Fatalf("change %d has ID %d", i+1, c.ID)
			}
			since := (c.At - o.Start).Seconds() - float64(i)*slot
			if since < -1e-6 || since > slot+1e-6 {
				t.Fatalf("change %d at %v is %.6f s into its slot of %.6f s", c.ID, c.At, since, slot)
			}
			offsets[c.At-o.Start-time.Duration(float64(i)*slot*1e9)] = true
		}
		if len(s.Changes) > 10 && len(offsets) < len(s.Changes)/2 {
			t.Errorf("%d changes have only %d different offsets in their slots: no jitter", len(s.Changes), len(offsets))
		}
	})
}

// TestMembership tracks the pods of each service.
func TestMembership(t *testing.T) {
	eachShape(t, func(t *testing.T, p corpus.Population, _ churn.Options, s churn.Stream) {
		members, seen := map[string][]string{}, map[string]bool{}
		for _, service := range p.Services {
			members[service.Key()] = slices.Clone(service.Pods)
			for _, pod := range service.Pods {
				seen[pod] = true
			}
		}
		for _, c := range s.Changes {
			now := members[c.Service]
			i := slices.Index(now, c.Remove[0])
			if i < 0 {
				t.Fatalf("change %d removes %s, which is not in %s", c.ID, c.Remove[0], c.Service)
			}
			if seen[c.Add[0]] {
				t.Fatalf("change %d adds %s, a name used before", c.ID, c.Add[0])
			}
			seen[c.Add[0]] = true
			now[i] = c.Add[0]
		}
	})
}

// TestServicesRollInTurn checks that a roll continues until all old pods of its service are gone,
// and that no service rolls again before all others have rolled.
func TestServicesRollInTurn(t *testing.T) {
	eachShape(t, func(t *testing.T, p corpus.Population, _ churn.Options, s churn.Stream) {
		pods := len(p.Services[0].Pods)
		rolls := slices.Collect(slices.Chunk(s.Changes, pods))
		for i, roll := range rolls {
			added := map[string]bool{}
			for _, c := range roll {
				if c.Service != roll[0].Service {
					t.Fatalf("change %d is for %s, but %s is still being rolled", c.ID, c.Service, roll[0].Service)
				}
				if added[c.Remove[0]] {
					t.Fatalf("change %d removes %s, which this roll has added", c.ID, c.Remove[0])
				}
				added[c.Add[0]] = true
			}
			turn := rolls[i-i%len(p.Services) : i]
			if slices.ContainsFunc(turn, func(r []churn.Change) bool { return r[0].Service == roll[0].Service }) {
				t.Fatalf("roll %d is for %s, which has already had its turn", i, roll[0].Service)
			}
		}
	})
}

func TestNoPodsNoChanges(t *testing.T) {
	for _, p := range []corpus.Population{population(0, 0), population(3, 0)} {
		s := churn.RollingUpdate(p, churn.Options{Seed: 1, Rate: 5, For: time.Second})
		if len(s.Changes) != 0 || s.Length != time.Second {
			t.Errorf("got %+v, want no change in 1s", s)
		}
	}
}
