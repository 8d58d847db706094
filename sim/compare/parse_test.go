package compare

import (
	"strings"
	"testing"
)

// A budget is in the unit of its figure.
func TestParseBudget(t *testing.T) {
	for _, test := range []struct {
		figure, amount string
		want           Budget
		wrong          string
	}{
		{"reloads", "3", Budget{More: 3}, ""},
		{"reloads", "0", Budget{}, ""},
		{"requests.sockets", "25%", Budget{Rel: 0.25}, ""},
		{"requests.latency.p50", "2ms", Budget{More: 0.002}, ""},
		{"memory.peakRSS", "10Mi", Budget{More: 10 << 20}, ""},
		{"requests.stale.n", "7", Budget{More: 7}, ""},
		{"reloads", "few", Budget{}, "such as 3"},
		{"reloads", "-1", Budget{}, "such as 3"},
		{"reloads", "NaN", Budget{}, "such as 3"},
		{"reloads", "Inf", Budget{}, "such as 3"},
		{"requests.latency.p50", "2", Budget{}, "such as 5ms"},
		{"requests.latency.p50", "-2ms", Budget{}, "such as 5ms"},
		{"memory.peakRSS", "10MB!", Budget{}, "such as 10Mi"},
		{"reloads", "-5%", Budget{}, "before the %"},
		{"reloads", "NaN%", Budget{}, "before the %"},
		{"reload", "1", Budget{}, `no figure "reload"; the figures are reloads,`},
	} {
		got, err := ParseBudget(test.figure, test.amount)
		if got != test.want || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s=%s: %+v, %v", test.figure, test.amount, got, err)
		}
	}
}
