package mutate

import (
	"slices"
	"testing"

	"windtunnel.dev/sim/behave"
)

const corsCase = `apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: x
  flags: {watch-namespace: a}
  config: {ssl-redirect: "false"}
  pods: {web: {}}
  steps:
  - request: GET http://x.example/
    expect: {status: 200}
  - config: {hsts: "false"}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations: {nginx.ingress.kubernetes.io/enable-cors: "true"}
`

func TestWithoutRemovesOneSetting(t *testing.T) {
	c, err := behave.Parse("cases/cors/x.yaml", []byte(corsCase), behave.Known{
		Annotations: []string{"nginx.ingress.kubernetes.io/enable-cors"}, Config: []string{"ssl-redirect", "hsts"}, Flags: []string{"watch-namespace"},
	})
	if err != nil {
		t.Fatal(err)
	}
	mutants := OfSettings([]*behave.Case{c})
	var names []string
	for _, m := range mutants {
		names = append(names, m.Name)
		less := Without(c, m)
		if !Sets(c, m) || Sets(less, m) {
			t.Errorf("%s: set before %t, after %t", m.Name, Sets(c, m), Sets(less, m))
		}
		for _, other := range mutants {
			if other.Name != m.Name && !Sets(less, other) {
				t.Errorf("%s removes %s as well", m.Name, other.Was)
			}
		}
	}
	// A run finds logs at the path in an ignored key.
	less := Without(c, mutants[slices.IndexFunc(mutants, func(m Mutant) bool { return m.Was == "ssl-redirect" })])
	if less.Config[behave.Ignored+"ssl-redirect"] != "false" {
		t.Errorf("ConfigMap %v", less.Config)
	}
	if want := []string{"annotation/enable-cors/ignore", "config/hsts/ignore", "config/ssl-redirect/ignore", "flag/watch-namespace/ignore"}; !slices.Equal(names, want) {
		t.Errorf("mutants %v, want %v", names, want)
	}
}
