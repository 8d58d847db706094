package compare

import (
	"testing"

	"windtunnel.dev/sim/measure"
)

// What varies has a least rise that matters; a row of the table that no figure
// has is a slip.
func TestDefaultBudgets(t *testing.T) {
	known := map[string]bool{}
	for _, figure := range measure.Figures() {
		known[figure.Name] = true
		if b := DefaultBudget(figure); figure.Kind.Varies() && (b.More <= 0 || b.Rel <= 0) {
			t.Errorf("%s varies and has the budget %+v", figure.Name, b)
		}
	}
	for name := range defaults {
		if !known[name] {
			t.Errorf("there is no figure %s", name)
		}
	}
}
