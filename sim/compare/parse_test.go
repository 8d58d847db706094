package compare

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/measure"
)

// A budget is in the unit of its figure.
func TestParseBudget(t *testing.T) {
	for _, test := range []struct {
		figure, amount string
		want           measure.Budget
		wrong          string
	}{
		{"reloads", "3", measure.Budget{More: 3}, ""},
		{"reloads", "0", measure.Budget{}, ""},
		{"requests.sockets", "25%", measure.Budget{Rel: 0.25}, ""},
		{"requests.latency.p50", "2ms", measure.Budget{More: 0.002}, ""},
		{"memory.peakRSS", "10Mi", measure.Budget{More: 10 << 20}, ""},
		{"requests.stale.n", "7", measure.Budget{More: 7}, ""},
		{"reloads", "few", measure.Budget{}, "such as 3"},
		{"reloads", "-1", measure.Budget{}, "such as 3"},
		{"reloads", "NaN", measure.Budget{}, "such as 3"},
		{"reloads", "Inf", measure.Budget{}, "such as 3"},
		{"requests.latency.p50", "2", measure.Budget{}, "such as 5ms"},
		{"requests.latency.p50", "-2ms", measure.Budget{}, "such as 5ms"},
		{"memory.peakRSS", "10MB!", measure.Budget{}, "such as 10Mi"},
		{"reloads", "-5%", measure.Budget{}, "before the %"},
		{"reloads", "NaN%", measure.Budget{}, "before the %"},
		{"reload", "1", measure.Budget{}, `no figure "reload"; the figures are reloads,`},
	} {
		got, err := ParseBudget(test.figure, test.amount)
		if got != test.want || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s=%s: %+v, %v", test.figure, test.amount, got, err)
		}
	}
}
