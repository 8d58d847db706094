package custom

import (
	"fmt"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/ext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rule is one compiled rule of x-kubernetes-validations.
type rule struct {
	apiextensionsv1.ValidationRule
	check, message cel.Program // message is nil without a messageExpression
	transition     bool        // it also reads the old value
}

// ruleEnv is the CEL environment of rules, with strings, sets, lists and optional values. It has
// none of the functions that kube-apiserver adds (URLs, addresses, quantities, formats …), and does
// not know the types of fields in advance.
var ruleEnv = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(cel.Variable("self", cel.DynType), cel.Variable("oldSelf", cel.DynType), cel.OptionalTypes(),
		cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true), ext.Strings(), ext.Sets(), ext.Lists())
})

// compileRule compiles a rule. It returns nil for a rule that uses functions that ruleEnv does not
// have; such a rule always passes. An error is a syntax error of the rule.
func compileRule(from apiextensionsv1.ValidationRule) (*rule, error) {
	r := &rule{ValidationRule: from}
	var err error
	if r.check, r.transition, err = compileCEL(from.Rule); err != nil || r.check == nil {
		return nil, err
	}
	if from.MessageExpression != "" {
		r.message, _, err = compileCEL(from.MessageExpression)
	}
	return r, err
}

func compileCEL(text string) (program cel.Program, transition bool, err error) {
	env, err := ruleEnv()
	if err != nil {
		return nil, false, err
	}
	parsed, issues := env.Parse(text)
	if issues.Err() != nil {
		return nil, false, fmt.Errorf("compilation failed: %w", issues.Err())
	}
	checked, issues := env.Check(parsed)
	if issues.Err() != nil { // a function or type of Kubernetes that ruleEnv does not have: the rule always passes
		return nil, false, nil //nolint:nilerr
	}
	for _, reference := range checked.NativeRep().ReferenceMap() {
		transition = transition || reference.Name == "oldSelf"
	}
	program, err = env.Program(checked)
	return program, transition, err
}

// problem returns the problem that the rule finds in a value at path, or nil if the value passes.
// shown is the value for the error message.
func (r *rule) problem(path *field.Path, shown any, variables map[string]any) *field.Error {
	text := strings.TrimSpace(r.Rule)
	got, _, err := r.check.Eval(variables)
	if err != nil {
		if r.Message != "" {
			text = strings.TrimSpace(r.Message)
		}
		if _, omitted := shown.(field.OmitValueType); omitted {
			shown = "object"
		}
		return field.Invalid(path, shown, fmt.Sprintf("%v evaluating rule: %s", err, text))
	}
	if got == types.True {
		return nil
	}
	for name := range strings.SplitSeq(strings.TrimPrefix(r.FieldPath, "."), ".") {
		if name != "" {
			path = path.Child(name)
		}
	}
	message := r.says(variables)
	reason := apiextensionsv1.FieldValueInvalid
	if r.Reason != nil {
		reason = *r.Reason
	}
	switch reason {
	case apiextensionsv1.FieldValueForbidden:
		return field.Forbidden(path, message)
	case apiextensionsv1.FieldValueRequired:
		return field.Required(path, message)
	case apiextensionsv1.FieldValueDuplicate:
		return field.Duplicate(path, shown)
	}
	return field.Invalid(path, shown, message)
}

// says returns the message of the rule: the computed one, else the fixed one, else the rule itself.
func (r *rule) says(variables map[string]any) string {
	if r.message != nil {
		if got, _, err := r.message.Eval(variables); err == nil {
			if text, ok := got.Value().(string); ok && strings.TrimSpace(text) != "" {
				return strings.TrimSpace(text)
			}
		}
	}
	if r.Message != "" {
		return strings.TrimSpace(r.Message)
	}
	return "failed rule: " + strings.TrimSpace(r.Rule)
}
