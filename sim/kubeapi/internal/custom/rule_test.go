package custom

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/definitions"
)

// A rule that uses functions that ruleEnv lacks always passes. The Gateway API has no such rule.
func TestGatewayAPIRulesAreEvaluated(t *testing.T) {
	if testing.Short() {
		t.Skip("downloads a Go module; not run with -short")
	}
	for _, module := range []string{"sigs.k8s.io/gateway-api@v1.4.0", "sigs.k8s.io/gateway-api@v1.7.0"} {
		all, err := definitions.Read(t.Context(), []adapter.CRDs{{Module: module, Path: "config/crd/standard"}})
		if err != nil {
			t.Skip(err)
		}
		rules := 0
		for _, object := range all {
			var crd apiextensionsv1.CustomResourceDefinition
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &crd); err != nil {
				t.Fatal(err)
			}
			for _, version := range crd.Spec.Versions {
				structural, err := structuralOf(version.Schema)
				if err != nil {
					t.Fatal(err)
				}
				everyRule(structural, func(from apiextensionsv1.ValidationRule) {
					rules++
					if compiled, err := compileRule(from); err != nil || compiled == nil {
						t.Errorf("%s, %s %s: the rule is not evaluated (%v): %s", module, crd.Name, version.Name, err, from.Rule)
					}
				})
			}
		}
		if rules < 100 {
			t.Errorf("%s has only %d rules", module, rules)
		}
	}
}

func everyRule(s *structuralschema.Structural, see func(apiextensionsv1.ValidationRule)) {
	if s == nil {
		return
	}
	for _, rule := range s.XValidations {
		see(rule)
	}
	for _, property := range s.Properties {
		everyRule(&property, see)
	}
	everyRule(s.Items, see)
	if s.AdditionalProperties != nil {
		everyRule(s.AdditionalProperties.Structural, see)
	}
}
