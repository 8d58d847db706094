package derive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
)

// casesOf derives the cases of manifests.
func casesOf(t *testing.T, text string) []*derive.Case {
	t.Helper()
	manifests, err := manifest.Parse("cluster.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return derive.Of(manifests, options).Cases
}

// requests returns the request lines of the steps about a setting or field.
func requests(c *derive.Case, about string) (all []string) {
	for _, step := range c.Steps {
		if step.Request.Request != "" && slices.Contains(step.About, about) {
			all = append(all, step.Request.Request)
		}
	}
	return all
}

// The controller reads True, t and 1 as true.
func TestBoolsAreReadAsTheControllerDoes(t *testing.T) {
	for _, value := range []string{"true", "True", "1"} {
		c := derived(t, strings.ReplaceAll(shop, `canary: "true"`, `canary: "`+value+`"`))
		weighed := func(s behave.Step) bool { return s.Times > 1 && slices.Contains(s.About, "annotation/canary-weight") }
		if !slices.ContainsFunc(c.Steps, weighed) {
			t.Errorf("canary: %q: no step tests the weight of the canary", value)
		}
	}
}

// Namespaces of cases are valid, and no two cases share one.
func TestNamespacesOfCases(t *testing.T) {
	owner := map[string]string{}
	for _, c := range casesOf(t, ingressWithPasswords("shop", "web", "a.example", "auth/passwords")+
		ingressWithPasswords("shop", "web-auth", "b.example", "passwords")+
		ingressWithPasswords("production-of-the-north-region", "web-frontend-of-the-whole-shop", "c.example", "secrets-of-all-the-teams/passwords")) {
		for _, m := range c.Manifests {
			namespace := m.Object.GetNamespace()
			if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
				t.Errorf("%s: namespace %s: %v", c.Name, namespace, wrong)
			}
			if other := owner[namespace]; other != "" && other != c.Name {
				t.Errorf("%s and %s share the namespace %s", other, c.Name, namespace)
			}
			owner[namespace] = c.Name
		}
	}
	if len(owner) != 5 {
		t.Errorf("namespaces %v, want 5", owner)
	}
}

func ingressWithPasswords(namespace, name, host, secret string) string {
	return fmt.Sprintf(`
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  namespace: %s
  name: %s
  annotations: {nginx.ingress.kubernetes.io/auth-type: basic, nginx.ingress.kubernetes.io/auth-secret: %s}
spec: {rules: [{host: %s, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`, namespace, name, secret, host)
}

// A generated authority does not share its name with a Secret of the manifests.
func TestAuthoritiesHaveTheirOwnNames(t *testing.T) {
	const ingresses = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/auth-tls-secret: default/web-ca}}
spec: {rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: app, port: {number: 443}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: z
  annotations: {nginx.ingress.kubernetes.io/backend-protocol: HTTPS, nginx.ingress.kubernetes.io/proxy-ssl-secret: default/web}
spec: {rules: [{host: shop.example, http: {paths: [{path: /z, pathType: Prefix, backend: {service: {name: z, port: {number: 443}}}}]}}]}
`
	for range 20 { // the order of the certificates varies
		c := derived(t, ingresses)
		if got := c.Certificates["web-ca"]; !got.Authority || got.Namespace != c.Name {
			t.Fatalf("the Secret web-ca has the certificate %+v, want an authority", got)
		}
		if signer := c.Certificates["web"].SignedBy; signer == "web-ca" || !c.Certificates[signer].Authority {
			t.Fatalf("web is signed by %s, want an authority of its own", signer)
		}
	}
}

// A request that several paths need is sent once, also with a PROXY header.
func TestEqualRequestsAreSentOnce(t *testing.T) {
	const paths = `
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: shop.example
    http:
      paths:
      - {path: /shop, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}
      - {path: /shop/, pathType: Prefix, backend: {service: {name: b, port: {number: 80}}}}
`
	const proxied = `
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {use-proxy-protocol: "true"}
`
	want, got := requests(derived(t, paths), "field/path"), requests(derived(t, proxied+paths), "field/path")
	if !slices.Equal(got, want) {
		t.Errorf("with a PROXY header %q, without one %q", got, want)
	}
}

// The authentication service of the ConfigMap is asked, whether it is in the cluster or not.
func TestGlobalAuthIsAsked(t *testing.T) {
	for _, url := range []string{"https://login.example/check", "http://login.auth.svc.cluster.local/check"} {
		c := derived(t, fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: ingress-nginx-controller, namespace: ingress-nginx}
data: {global-auth-url: %q}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {rules: [{host: shop.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`, url))
		if asked := requests(c, "config/global-auth-url"); len(asked) != 2 {
			t.Errorf("%s: %q, want a request that it refuses, and one that it accepts", url, asked)
		}
	}
}

// The pods of a canary speak the protocol of the path that they share, whatever the other hosts of the
// canary are.
func TestCanaryOfSeveralHosts(t *testing.T) {
	c := derived(t, `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: a}
spec: {rules: [{host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: a, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: b, annotations: {nginx.ingress.kubernetes.io/backend-protocol: HTTPS}}
spec: {rules: [{host: b.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: b, port: {number: 80}}}}]}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: canary, annotations: {nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-weight: "50"}}
spec:
  rules:
  - {host: a.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: next-a, port: {number: 80}}}}]}}
  - {host: b.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: next-b, port: {number: 80}}}}]}}
`)
	for service, want := range map[string]string{"a": "", "b": "https", "next-a": "", "next-b": "https"} {
		if got := c.Pods[service].Protocol; got != want {
			t.Errorf("pods of %s speak %q, want %q", service, got, want)
		}
	}
}

// On a host with regular expressions, an exact path is a regular expression as well.
func TestExactPathOfRegexHost(t *testing.T) {
	c := derived(t, `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/use-regex: "true"}}
spec: {rules: [{host: shop.example, http: {paths: [{path: "/item/[0-9]+", pathType: Exact, backend: {service: {name: web, port: {number: 80}}}}]}}]}
`)
	asked := requests(c, "annotation/use-regex")
	if !slices.ContainsFunc(asked, func(request string) bool { return strings.HasPrefix(request, "GET http://shop.example/item/0") }) {
		t.Errorf("no request for an item among %q", asked)
	}
}
