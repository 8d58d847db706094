package admission

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
)

func TestRuleScopes(t *testing.T) {
	for _, test := range []struct {
		scope              admissionregistrationv1.ScopeType
		namespace, service bool
	}{{"*", true, true}, {"Cluster", true, false}, {"Namespaced", false, true}} {
		for name, want := range map[string]bool{"namespaces": test.namespace, "services": test.service} {
			r := admissionregistrationv1.RuleWithOperations{Operations: []admissionregistrationv1.OperationType{"CREATE"},
				Rule: admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"*"}}}
			r.Scope = &test.scope
			a := &attributes{operation: admissionv1.Create, Request: Request{Resource: kinds.Find(corev1.SchemeGroupVersion, name)}}
			if got := a.covered(r); got != want {
				t.Errorf("scope %s covers %s: %v", test.scope, name, got)
			}
		}
	}
}

func TestRulesCoverResources(t *testing.T) {
	for _, test := range []struct {
		pattern, name, sub string
		want               bool
	}{
		{"ingresses", "ingresses", "", true}, {"ingresses", "ingresses", "status", false}, {"ingresses/status", "ingresses", "status", true},
		{"ingresses/*", "ingresses", "status", true}, {"ingresses/*", "ingresses", "", true}, {"*", "pods", "", true}, {"*", "pods", "status", false},
		{"*/*", "pods", "status", true}, {"*/*", "pods", "", true}, {"*/status", "pods", "status", true}, {"*/status", "pods", "", false},
	} {
		if got := coversResource(test.pattern, test.name, test.sub); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}
