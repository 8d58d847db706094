package compile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
)

const prefix = "nginx.ingress.kubernetes.io/"

// adorn adds annotations to some ingresses that make endpoints affect more than their backend:
// canaries, default backends, sessions.
func (p population) adorn() {
	for i, ingress := range p.ingresses {
		switch i % 5 {
		case 1:
			ingress.Annotations = map[string]string{prefix + "default-backend": p.services[(i+1)%len(p.services)].Name}
		case 2:
			ingress.Annotations = map[string]string{prefix + "canary": "true", prefix + "canary-weight": "10"}
			ingress.Spec.Rules[0].Host = p.ingresses[i-1].Spec.Rules[0].Host
		case 3:
			ingress.Annotations = map[string]string{prefix + "affinity": "cookie"}
		}
	}
}

// change makes one random change to the cluster and describes it.
func (p *population) change(random *rand.Rand) string {
	replace := func(slice *discoveryv1.EndpointSlice, change func(*discoveryv1.EndpointSlice)) {
		copied := slice.DeepCopy()
		change(copied)
		p.slices[slices.Index(p.slices, slice)] = copied
	}
	slice := p.slices[random.IntN(len(p.slices))]
	switch service := random.IntN(len(p.services)); random.IntN(8) {
	case 0:
		i := random.IntN(len(p.ingresses))
		changed := p.ingresses[i].DeepCopy()
		changed.Spec.Rules[0].HTTP.Paths[0].Path = fmt.Sprintf("/p%d", random.IntN(3))
		p.ingresses[i] = changed
		return "path of " + changed.Name
	case 1:
		changed := p.services[service].DeepCopy()
		changed.Spec.Ports[0].Port = int32(80 + random.IntN(2))
		p.services[service] = changed
		return "port of " + changed.Name
	case 2:
		if len(p.ingresses) == 6 {
			return "nothing"
		}
		p.ingresses = slices.Delete(slices.Clone(p.ingresses), 0, 1)
		return "deleted an ingress"
	case 3, 4:
		replace(slice, func(s *discoveryv1.EndpointSlice) { s.Endpoints = nil })
		return "no endpoint in " + slice.Name
	case 5:
		replace(slice, func(s *discoveryv1.EndpointSlice) {
			s.Labels = map[string]string{"touched": "yes", discoveryv1.LabelServiceName: s.Labels[discoveryv1.LabelServiceName]}
		})
		return "a label of " + slice.Name
	default:
		address := fmt.Sprintf("10.9.%d.%d", random.IntN(3), random.IntN(3))
		replace(slice, func(s *discoveryv1.EndpointSlice) {
			s.Endpoints = []discoveryv1.Endpoint{{Addresses: []string{address}}}
		})
		return address + " in " + slice.Name
	}
}

// tell applies the differences between two clusters to a ledger.
func (p population) tell(ledger *snapshot.Ledger, before population) {
	note(ledger, p.services, before.services)
	note(ledger, p.slices, before.slices)
	note(ledger, p.ingresses, before.ingresses)
}

func note[T comparable](ledger *snapshot.Ledger, now, before []T) {
	for _, object := range before {
		if !slices.Contains(now, object) {
			ledger.Drop(object)
		}
	}
	for _, object := range now {
		if !slices.Contains(before, object) {
			ledger.Put(object)
		}
	}
}

// Incremental updates produce the same result as a full rebuild, for any sequence of changes.
func TestIncrementalMatchesFullRebuild(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		random := rand.New(rand.NewPCG(seed, 1))
		opts := []parsed{parse(flags{}, nil), parse(flags{DynamicConfiguration: new(seed%4 == 0), DefaultBackendService: "demo/svc-0001"}, map[string]string{"load-balance": "ewma"})}
		whole := populate(10)
		whole.adorn()
		cluster := snapshot.NewLedger()
		var known population
		var models model.Memo
		var states plan.Memo
		reused := 0
		var last *model.Model
		for step := range 40 {
			what := "the same again"
			if step > 0 && random.IntN(10) > 0 {
				what = whole.change(random)
			}
			o := opts[min(random.IntN(20), 1)^1]
			whole.tell(cluster, known)
			known = population{slices.Clone(whole.services), slices.Clone(whole.slices), slices.Clone(whole.ingresses), whole.secrets}
			stepwise, findings := models.Build(cluster.Snapshot(), o.Options)
			got, err := states.Next(stepwise, input(o.Options))
			if err != nil {
				t.Fatal(err)
			}
			atOnce, wantFindings := model.Build(snapshot.Take(whole), o.Options)
			want, err := plan.Next(atOnce, input(o.Options))
			if err != nil {
				t.Fatal(err)
			}
			if steps := plan.Diff(want, got); len(steps) > 0 {
				t.Fatalf("seed %d, step %d, %s: %s", seed, step, what, describe(steps))
			}
			if !reflect.DeepEqual(findings, wantFindings) {
				t.Fatalf("seed %d, step %d, %s: findings %v, want %v", seed, step, what, findings, wantFindings)
			}
			if stepwise.SameButEndpoints(last) {
				reused++
			}
			last = stepwise
		}
		if reused < 5 {
			t.Errorf("seed %d: only %d of 40 models reused the previous one", seed, reused)
		}
	}
}

// A change of an endpoint must not rebuild the model or render nginx.conf, unless it changes which
// backend answers.
func TestEndpointChangeRebuildsOnlyItsBackend(t *testing.T) {
	opts := parse(flags{}, nil)
	whole := populate(6)
	whole.adorn()
	var models model.Memo
	build := func() *model.Model {
		m, _ := models.Build(snapshot.Take(whole), opts.Options)
		return m
	}
	first := build()
	for _, test := range []struct {
		service string
		empty   bool
		same    bool
		serving bool // the same backends have endpoints
	}{
		{"svc-0000", false, true, true},
		{"svc-0000", true, true, false},
		{"svc-0001", false, true, true}, // has default-backend
		{"svc-0001", true, false, false},
		{"svc-0003", false, true, true},
	} {
		for i, slice := range whole.slices {
			if slice.Labels[discoveryv1.LabelServiceName] == test.service {
				slice = slice.DeepCopy()
				slice.Endpoints = slice.Endpoints[:1]
				if test.empty {
					slice.Endpoints = nil
				}
				whole.slices[i] = slice
			}
		}
		next := build()
		if got := next.SameButEndpoints(first); got != test.same {
			t.Errorf("%+v: same %t", test, got)
		}
		if got := next.SameServing(first); got != test.serving {
			t.Errorf("%+v: same serving %t", test, got)
		}
		for backend := range next.Backends.All() {
			old := first.Backends.Find(backend.Name)
			if test.same && (backend == old) == (backend.Name == "demo-"+test.service+"-80") {
				t.Errorf("%+v: backend %s was kept %t", test, backend.Name, backend == old)
			}
		}
		first = next
	}
}
