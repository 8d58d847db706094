package derive_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
)

const shop = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  annotations:
    nginx.ingress.kubernetes.io/auth-url: https://login.example/check
    nginx.ingress.kubernetes.io/mirror-target: http://mirror.example$request_uri
    nginx.ingress.kubernetes.io/affinity: cookie
    nginx.ingress.kubernetes.io/backend-protocol: HTTPS
spec:
  tls: [{hosts: [shop.example], secretName: tls}]
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 443}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: limited
  annotations: {nginx.ingress.kubernetes.io/limit-rps: "1"}
spec:
  rules:
  - host: shop.example
    http: {paths: [{path: /limited, pathType: Prefix, backend: {service: {name: web, port: {number: 443}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: canary
  annotations: {nginx.ingress.kubernetes.io/canary: "true", nginx.ingress.kubernetes.io/canary-weight: "50"}
spec:
  rules:
  - host: shop.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: next, port: {number: 443}}}}]}
`

func derived(t *testing.T, text string) *derive.Case {
	t.Helper()
	manifests, err := manifest.Parse("shop.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	d := derive.Of(manifests, options)
	if len(d.Cases) != 1 {
		t.Fatalf("%d cases", len(d.Cases))
	}
	return d.Cases[0]
}

// answers returns invented answers of a controller; seed changes the values that differ from run to run.
func answers(c *derive.Case, seed int, service func(n int) string) []behave.Record {
	var records []behave.Record
	for _, step := range c.Steps {
		if step.Request.Request == "" {
			records = append(records, behave.Record{Change: &behave.Change{}})
			continue
		}
		var all []behave.Exchange
		for n := range max(step.Times, 1) {
			target := step.Target()
			e := behave.Exchange{
				Status: 200, Protocol: "HTTP/1.1", Body: fmt.Append(nil, seed),
				Header: http.Header{"Date": {fmt.Sprint(seed)}, "X-Kept": {"a"}, "X-Twice": {"a", "b"}, "X-Id": {fmt.Sprintf("%032x", seed)}, "Set-Cookie": {fmt.Sprintf("route=%d; Path=/; HttpOnly", seed)}},
				Received: []behave.Reception{
					{Service: "windtunnel-mirror", Method: target.Method, Path: target.Path, Host: fmt.Sprintf("127.0.0.%d", seed), Body: []byte(step.Body)},
					{
						Service: service(n), Pod: fmt.Sprint(service(n), "-", seed), Method: target.Method, Path: target.Path, Host: target.Host, Protocol: "HTTP/1.1",
						Header: http.Header{"X-Real-Ip": {fmt.Sprintf("127.0.0.%d", seed)}, "X-Request-Id": {fmt.Sprintf("%032x", seed)}, "X-Forwarded-Proto": {"https"}}, SNI: "web.internal", Answered: true,
					},
				},
			}
			switch {
			case target.Scheme == "http":
				e.Status, e.Received = 308, nil
				e.Header.Set("Location", fmt.Sprintf("https://shop.example:%d/", 40000+seed))
			case step.Together && n >= 6:
				e.Status, e.Received = 503, nil
			}
			if target.Scheme == "https" {
				e.TLS = &behave.Session{Version: "1.3", Certificate: "tls"}
			}
			all = append(all, e)
		}
		records = append(records, behave.Record{Exchanges: all})
	}
	return records
}

func alternate(n int) string { return []string{"web", "next"}[n%2] }

// Expectations that were recorded in one run hold in another, and both runs write the same file.
func TestCompleteLeavesOutWhatVaries(t *testing.T) {
	c := derived(t, shop)
	first := c.Complete(answers(c, 1, alternate))
	second := c.Complete(answers(c, 2, alternate))
	texts := [2]string{}
	for n, one := range []*behave.Case{first, second} {
		text, err := one.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		texts[n] = string(text)
	}
	if texts[0] != texts[1] {
		t.Errorf("the files differ:\n%s", cmp.Diff(texts[0], texts[1]))
	}
	read, err := behave.Parse("shop.yaml", []byte(texts[0]), behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if result := behave.Conclude(read, answers(c, 3, alternate), false); result.Outcome != behave.Passed {
		t.Errorf("%s %s %v", result.Outcome, result.Reason, result.Failures)
	}
	for _, wanted := range []string{
		"X-Kept: a", "X-Id:\n            matches: ^[0-9a-f]{32}$", "X-Twice:\n            values:", "X-Forwarded-Proto: https", "X-Real-Ip:\n              matches: .",
		"same-pod: ", "shares:\n          next: 0.5\n          web: 0.5", "statuses:\n          200:\n            min: 6\n          503:\n            min: 1",
		"https://shop\\.example:[0-9]+/$", "sni: web.internal", "windtunnel-mirror:\n            - method: ", "certificate: tls",
	} {
		if !strings.Contains(texts[0], wanted) {
			t.Errorf("no %q in the file", wanted)
		}
	}
	if t.Failed() {
		t.Log(texts[0])
	}
}

// A recording has the actual answers, not those that the manifests promise: if the recorded controller
// ignored the weight of a canary, one that respects the weight fails.
func TestCompleteRecordsWhatIsAnswered(t *testing.T) {
	c := derived(t, shop)
	one := c.Complete(answers(c, 1, func(int) string { return "web" }))
	if result := behave.Conclude(one, answers(c, 2, func(int) string { return "web" }), false); result.Outcome != behave.Passed {
		t.Errorf("%s %v", result.Outcome, result.Failures)
	}
	result := behave.Conclude(one, answers(c, 2, alternate), false)
	fields := map[string]bool{}
	for _, f := range result.Failures {
		fields[strings.Join(f.About, " ")+": "+f.Field] = true
	}
	if want := "annotation/canary annotation/canary-weight: service"; !fields[want] {
		t.Errorf("no failure of %s; there are %v", want, slices.Sorted(maps.Keys(fields)))
	}
}

// A request of each ingress is recorded with all headers, so a header that is added later is a failure.
func TestCompleteAllowsNoOtherHeaders(t *testing.T) {
	c := derived(t, shop)
	one := c.Complete(answers(c, 1, alternate))
	more := answers(c, 2, alternate)
	for _, r := range more {
		for _, e := range r.Exchanges {
			e.Header.Set("X-Added", "yes")
			e.Header.Set("Age", "1")
			for _, got := range e.Received {
				if got.Answered {
					got.Header.Set("X-Added-Too", "yes")
					got.Header.Set("Traceparent", "00")
				}
			}
		}
	}
	fields := map[string]bool{}
	for _, f := range behave.Conclude(one, more, false).Failures {
		fields[f.Field] = true
	}
	if diff := cmp.Diff([]string{"header X-Added", "header X-Added-Too at the pod"}, slices.Sorted(maps.Keys(fields))); diff != "" {
		t.Error(diff)
	}
}

func TestCompleteRecordsFailures(t *testing.T) {
	c := derived(t, shop)
	records := answers(c, 1, alternate)
	records[0].Exchanges = []behave.Exchange{{Failure: "tls", Detail: "no certificate"}}
	if got := c.Complete(records).Steps[0].Expect.Fails; got != "tls" {
		t.Errorf("recorded fails: %s", got)
	}
}

// Cases do not contain the Secrets of the manifests.
func TestSecretsAreNotCopied(t *testing.T) {
	for _, c := range deriveFile(t, "testdata/dump.txtar").Cases {
		text := string(valid(t, c))
		for _, secret := range []string{"secret-key", "c2VjcmV0LWtleQ", "secret-hash", "c2VjcmV0LWhhc2g", "tls.key"} {
			if strings.Contains(text, secret) {
				t.Errorf("%s has %s", c.Name, secret)
			}
		}
	}
}
