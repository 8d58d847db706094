package churn_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
)

var kinds = map[string]func(corpus.Population, churn.Options) churn.Stream{
	"rolling-update": churn.RollingUpdate, "scale-out": churn.ScaleOut, "new-hosts": churn.NewHosts, "touch": churn.Touch,
}

// Every kind generates as many changes as requested, visits the services in turn, depends on the
// seed alone, and survives writing and reading.
func TestEveryKind(t *testing.T) {
	for name, make := range kinds {
		t.Run(name, func(t *testing.T) {
			p := population(4, 2)
			o := churn.Options{Seed: 7, Rate: 6, For: 4 * time.Second, Start: time.Second}
			s := make(p, o)
			if len(s.Changes) != 24 || s.Length != 5*time.Second {
				t.Errorf("got %d changes in %v", len(s.Changes), s.Length)
			}
			times := map[string]int{}
			for _, c := range s.Changes {
				times[c.Service]++
			}
			for service, n := range times {
				if n != 6 {
					t.Errorf("%s has %d of 24 changes for 4 services", service, n)
				}
			}
			if diff := cmp.Diff(s, make(p, o)); diff != "" {
				t.Errorf("the same seed generated different changes:\n%s", diff)
			}
			o.Seed++
			if reflect.DeepEqual(s, make(p, o)) {
				t.Error("another seed generated the same changes")
			}
			var file bytes.Buffer
			if err := churn.Write(&file, churn.Recording{Population: p, Stream: s}); err != nil {
				t.Fatal(err)
			}
			again, err := churn.Read(&file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s, again.Stream); diff != "" {
				t.Errorf("-written +read:\n%s", diff)
			}
			if none := make(corpus.Population{}, o); len(none.Changes) > 0 {
				t.Errorf("changes of an empty population: %+v", none.Changes)
			}
		})
	}
}

func TestNamesAreNew(t *testing.T) {
	p := population(3, 2)
	used := map[string]bool{}
	for _, service := range p.Services {
		for _, pod := range service.Pods {
			used[pod] = true
		}
	}
	for _, target := range p.Targets() {
		used[target.Host] = true
	}
	o := churn.Options{Seed: 1, Rate: 10, For: 10 * time.Second}
	for _, s := range []churn.Stream{churn.ScaleOut(p, o), churn.NewHosts(p, o)} {
		for _, c := range s.Changes {
			for _, name := range append(slices.Clone(c.Add), c.Host) {
				if name != "" && used[name] {
					t.Errorf("the name %s was used before", name)
				}
				used[name] = true
			}
		}
	}
}

// A change of a scale-out adds as many pods as it is told to, each with a name of its own.
func TestScaleOutAddsSeveralPods(t *testing.T) {
	names := map[string]bool{}
	for _, c := range churn.ScaleOut(population(2, 1), churn.Options{Seed: 1, Rate: 5, For: time.Second, Pods: 3}).Changes {
		if len(c.Add) != 3 {
			t.Errorf("change %d adds %d pods", c.ID, len(c.Add))
		}
		for _, name := range c.Add {
			names[name] = true
		}
	}
	if len(names) != 15 {
		t.Errorf("5 changes add %d pods", len(names))
	}
}

// New hosts prefer services without an ingress, because these are new to nginx as well.
func TestNewHostsGoToServicesWithoutOne(t *testing.T) {
	p := population(6, 1)
	p.Ingresses = p.Ingresses[:2]
	for _, c := range churn.NewHosts(p, churn.Options{Seed: 1, Rate: 10, For: time.Second}).Changes {
		if p.Routed()[c.Service] {
			t.Errorf("host %s routes to %s, which already has an ingress", c.Host, c.Service)
		}
	}
}

// Services without pods cannot answer for a new host, so they keep no other service from doing so.
func TestNewHostsNeedPods(t *testing.T) {
	p := population(2, 1)
	p.Ingresses, p.Services[1].Pods = p.Ingresses[:1], nil
	p.Ingresses[0].Paths = p.Ingresses[0].Paths[:1]
	changes := churn.NewHosts(p, churn.Options{Seed: 1, Rate: 10, For: time.Second}).Changes
	if len(changes) != 10 {
		t.Errorf("%d changes", len(changes))
	}
	for _, c := range changes {
		if c.Service != p.Services[0].Key() {
			t.Errorf("host %s routes to %s, which has no pods", c.Host, c.Service)
		}
	}
}

// Touch uses all kinds of objects, but only those that exist.
func TestTouchUsesExistingObjects(t *testing.T) {
	p := population(3, 2)
	p.Ingresses = p.Ingresses[:1]
	routed := p.Routed()
	seen := map[churn.Touched]bool{}
	for _, c := range churn.Touch(p, churn.Options{Seed: 1, Rate: 30, For: 10 * time.Second}).Changes {
		seen[c.Touch] = true
		if c.Touch == churn.Ingress && !routed[c.Service] {
			t.Errorf("a change of the ingress of %s, which has none", c.Service)
		}
	}
	if len(seen) != 3 {
		t.Errorf("touched objects %v", seen)
	}
}
