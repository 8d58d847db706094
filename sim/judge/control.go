package judge

import (
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
)

// OfControl returns the outcome of a run with the mutation of a control, and a one-line
// reason. It passes if every expectation that the control names fails for at least one
// subject. The values decide, even if the run is void: a mutation may itself make the run
// void, for example by stopping all workers. An expectation that cannot be evaluated proves
// nothing, nor does one that applies to no subject: without another one, the control does not
// apply.
func OfControl(control *scenario.Control, result measure.Result, checks []Check) (Outcome, string) {
	if why := missed(result); why != "" {
		return Void, "the control was not applied: " + why
	}
	var red, inapplicable []string
	for _, text := range control.Fails {
		i := slices.IndexFunc(checks, func(c Check) bool { return c.Text == text && !c.OK && c.Error == "" && c.NotApplicable == "" })
		if why := whyNot(text, checks); i < 0 && why != "" {
			inapplicable = append(inapplicable, why)
			continue
		}
		if i < 0 {
			return Failed, fmt.Sprintf("stays green: %s holds under the mutation", text)
		}
		red = append(red, checks[i].Actual)
	}
	if len(red) == 0 && len(inapplicable) > 0 {
		return Inapplicable, "the control does not apply: " + inapplicable[0]
	}
	return Passed, "turns red: " + strings.Join(red, ", ")
}

// whyNot returns why an expectation applies to no subject; "" if it applies to one.
func whyNot(text string, checks []Check) (why string) {
	for _, c := range checks {
		if c.Text != text {
			continue
		}
		if c.NotApplicable == "" {
			return ""
		}
		why = c.NotApplicable
	}
	return why
}

// missed names a fault that struck nothing or could not be made in a run, or returns an empty text.
// Without the fault, a failed expectation proves nothing about it.
func missed(result measure.Result) string {
	for _, s := range result.Subjects {
		for _, f := range s.Struck {
			if f.Of != "" && f.Count == 0 || f.Failed+f.Absent == f.Times {
				return fmt.Sprintf("the fault %s struck nothing of %s", f.Name, s.Name)
			}
		}
	}
	return ""
}
