package expect

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"windtunnel.dev/sim/measure"
)

// notApplicable returns why the expectation does not apply to a subject, or "" if it applies. It
// evaluates the expectation with the inapplicable values as unknowns. If the result is unknown, it
// depends on them.
func (e Expectation) notApplicable(s measure.Subject) (string, error) {
	if len(s.NotApplicable) == 0 {
		return "", nil
	}
	vars, err := cel.PartialVars(values(s), notApplicable(s)...)
	if err != nil {
		return "", fmt.Errorf("expectation %q of %s: %w", e.text, s.Name, err)
	}
	if out, _, _ := e.program.Eval(vars); types.IsUnknown(out) { // Evaluate reports errors
		return e.whyNot(s), nil
	}
	return "", nil
}

// whyNot returns the reasons for which values that the expectation uses do not apply, each with one of
// these values.
func (e Expectation) whyNot(s measure.Subject) string {
	var reasons []string
	for _, n := range s.NotApplicable {
		if name := e.firstOf(n); name != "" {
			reasons = append(reasons, name+": "+n.Why)
		}
	}
	if len(reasons) == 0 { // values within nested macros have no path
		for _, n := range s.NotApplicable {
			reasons = append(reasons, strings.Join(n.Measurements, ", ")+": "+n.Why)
		}
	}
	return strings.Join(reasons, "; ")
}

// firstOf returns the first of some measurements that the expectation uses; "" if it uses none.
func (e Expectation) firstOf(n measure.NotApplicable) string {
	for _, u := range e.uses {
		for _, name := range n.Measurements {
			one := measure.Subject{NotApplicable: []measure.NotApplicable{{Measurements: []string{name}, Why: n.Why}}}
			if one.WhyNot(u.path) != "" {
				return name
			}
		}
	}
	return ""
}
