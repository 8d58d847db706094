package kubeapi

import (
	"net/http"
	"strings"
	"testing"
)

func TestWebhookConfigurationsAreValidated(t *testing.T) {
	s := start(t)
	const good = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: check}
webhooks:
- name: check.example.com
  clientConfig: {url: "https://127.0.0.1/check"}
  rules: [{operations: [CREATE], apiGroups: [""], apiVersions: [v1], resources: [secrets]}]
  sideEffects: None
  admissionReviewVersions: [v2, v1beta1]
`
	const service = `service: {namespace: default}`
	for name, test := range map[string]struct{ old, new, want string }{
		"name":       {"check.example.com", "check", `webhooks[0].name: Invalid value: "check": should be a domain`},
		"operation":  {"CREATE", "MAKE", `webhooks[0].rules[0].operations[0]: Unsupported value: "MAKE"`},
		"operations": {"[CREATE]", "[]", `webhooks[0].rules[0].operations: Required value`},
		"effects":    {"sideEffects: None", "sideEffects: Some", `webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"`},
		"scheme":     {"https", "http", `webhooks[0].clientConfig.url: Invalid value: "http": 'https' is the only allowed URL scheme`},
		"query":      {"/check\"", "/check?a=b\"", `webhooks[0].clientConfig.url: Invalid value: "a=b": query parameters are not permitted`},
		"both":       {"{url:", "{" + service + ", url:", `webhooks[0].clientConfig: Required value: exactly one of url or service is required`},
		"service":    {`{url: "https://127.0.0.1/check"}`, "{" + service + "}", `webhooks[0].clientConfig.service.name: Required value: service name is required`},
		"versions":   {"v1beta1", "v1alpha1", `webhooks[0].admissionReviewVersions: Invalid value: ["v2","v1alpha1"]: must include at least one of v1, v1beta1`},
	} {
		t.Run(name, func(t *testing.T) {
			resp := rawWire{wire{t, s.URL()}}.send("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", "application/yaml", strings.Replace(good, test.old, test.new, 1))
			if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(resp.body, strings.ReplaceAll(test.want, `"`, `\"`)) {
				t.Errorf("%s: %s", resp.Status, resp.body)
			}
		})
	}
	resp := rawWire{wire{t, s.URL()}}.send("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All", "application/yaml", good)
	if resp.StatusCode != http.StatusCreated {
		t.Errorf("%s: %s", resp.Status, resp.body)
	}
}
