package run_test

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/run"
	"windtunnel.dev/sim/scenario"
)

// asks is a scenario with one lane that asks a host. Tests append the rest of its spec.
const asks = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: asks}
spec:
  traffic:
  - {lane: http, rate: 1/s, host: HOST}
`

// shop is a step that applies an ingress, and the ingress without its annotations and spec.
const shop = `
  timeline: [{at: 0s, apply: shop}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
`

func TestHostsOfLanes(t *testing.T) {
	const population = "  population: {services: 5}\n"
	const snippets = "  config: {http-snippet: 'server { server_name a.example; }'}\n"
	for name, c := range map[string]struct{ host, rest, want string }{
		"of the population":         {host: "svc-004.demo.example", rest: population},
		"of no ingress":             {host: "svc-005.demo.example", rest: population, want: "asks.yaml:6: lane http: no ingress has the host svc-005.demo.example; did you mean svc-000.demo.example? (the hosts are svc-000.demo.example, svc-001.demo.example, svc-002.demo.example and 2 more); a host without an ingress on purpose ends with .invalid"},
		"of nothing":                {host: "a.example", want: "asks.yaml:6: lane http: no ingress has the host a.example; the scenario has no host: add a manifest with an ingress, or a population; "},
		"on purpose":                {host: "nobody.invalid", rest: population},
		"of a later step":           {host: "a.example", rest: shop + "metadata: {name: shop}\nspec: {rules: [{host: a.example}]}\n"},
		"of a manifest, misspelt":   {host: "b.a.example", rest: shop + "metadata: {name: shop}\nspec: {rules: [{host: a.example}]}\n", want: "no ingress has the host b.a.example"},
		"of a wildcard":             {host: "c.b.a.example", rest: shop + "metadata: {name: shop}\nspec: {rules: [{host: '*.a.example'}]}\n"},
		"the domain of a wildcard":  {host: "a.example", rest: shop + "metadata: {name: shop}\nspec: {rules: [{host: '*.a.example'}]}\n", want: "no ingress has the host a.example"},
		"an alias":                  {host: "b.example", rest: shop + "metadata: {name: shop, annotations: {nginx.ingress.kubernetes.io/server-alias: 'c.example, b.example'}}\nspec: {rules: [{host: a.example}]}\n"},
		"a regular expression":      {host: "b.example", rest: shop + "metadata: {name: shop, annotations: {nginx.ingress.kubernetes.io/server-alias: '~^b'}}\nspec: {rules: [{host: a.example}]}\n"},
		"of a redirect":             {host: "www.a.example", rest: shop + "metadata: {name: shop, annotations: {nginx.ingress.kubernetes.io/from-to-www-redirect: 'true'}}\nspec: {rules: [{host: a.example}]}\n"},
		"of a rule without a host":  {host: "b.example", rest: shop + "metadata: {name: shop}\nspec: {rules: [{}]}\n"},
		"of a default backend":      {host: "b.example", rest: shop + "metadata: {name: shop}\nspec: {defaultBackend: {service: {name: a, port: {number: 80}}}}\n"},
		"of a churn":                {host: "new-2.demo.example", rest: population + "  timeline: [{at: 0s, churn: new-hosts, rate: 1/s, for: 2s}]\n"},
		"after a churn":             {host: "new-3.demo.example", rest: population + "  timeline: [{at: 0s, churn: new-hosts, rate: 1/s, for: 2s}]\n", want: "no ingress has the host new-3.demo.example; did you mean new-1.demo.example?"},
		"of a snippet":              {host: "a.example", rest: snippets},
		"of the default service":    {host: "a.example", rest: "  subjects: [{name: a, flags: {default-backend-service: demo/a}}]\n"},
		"of another kind of route":  {host: "a.example", rest: strings.Replace(shop, "networking.k8s.io/v1\nkind: Ingress", "gateway.networking.k8s.io/v1\nkind: HTTPRoute", 1) + "metadata: {name: shop}\n"},
		"beside an object, not one": {host: "a.example", rest: strings.Replace(shop, "networking.k8s.io/v1\nkind: Ingress", "v1\nkind: Service", 1) + "metadata: {name: shop}\n", want: "no ingress has the host a.example"},
	} {
		t.Run(name, func(t *testing.T) {
			text := strings.Replace(asks, "HOST", c.host, 1) + c.rest
			s, err := scenario.Parse("asks.yaml", []byte(text), scenario.Known{})
			if err != nil {
				t.Fatal(err)
			}
			switch err := run.Check(s, 1, nil); {
			case c.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the error is %v, want %q", err, c.want)
			}
		})
	}
}
