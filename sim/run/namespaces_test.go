package run_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// A driver learns the namespaces of the objects that a run writes: those of the population, of manifests that
// steps apply or delete, and of Namespace objects.
func TestNamespacesOfARun(t *testing.T) {
	const (
		shop  = "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"
		other = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: other}}"
		class = "{apiVersion: networking.k8s.io/v1, kind: IngressClass, metadata: {name: in-none}, spec: {controller: a/b}}"
	)
	for name, c := range map[string]struct {
		population, steps string
		manifests         []string
		want              []string
	}{
		"one": {"namespace: own, services: 2", "{at: 1s, churn: new-hosts, rate: 1/s, for: 2s}", nil, []string{"own"}},
		"manifests": {
			"services: 2", "{at: 1s, apply: in-none}, {at: 1s, apply: shop}, {at: 2s, apply: a}, {at: 3s, delete: a}",
			[]string{class, shop, other}, []string{"demo", "shop", "other"},
		},
	} {
		s := &stage{t: t, unlaunched: map[string]error{"one": errors.New("it is enough to prepare it")}}
		_, err := s.play(strings.Join(append([]string{`
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  subjects: [{name: one}]
  population: {` + c.population + `}
  timeline: [` + c.steps + `]`}, c.manifests...), "\n---\n"), nil)
		if len(s.actors) != 1 {
			t.Fatalf("%s: %v", name, err)
		}
		if got := s.actors[0].options.Namespaces; !slices.Equal(got, c.want) {
			t.Errorf("%s: the namespaces are %q, want %q", name, got, c.want)
		}
	}
}
