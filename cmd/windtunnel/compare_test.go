package main

import (
	"strings"
	"testing"

	"windtunnel.dev/sim/compare"
)

// A budget is in the unit of its figure.
func TestBudgets(t *testing.T) {
	for _, test := range []struct {
		figure, amount string
		want           compare.Budget
		wrong          string
	}{
		{"reloads", "3", compare.Budget{More: 3}, ""},
		{"reloads", "0", compare.Budget{}, ""},
		{"requests.sockets", "25%", compare.Budget{Rel: 0.25}, ""},
		{"requests.latency.p50", "2ms", compare.Budget{More: 0.002}, ""},
		{"memory.peakRSS", "10Mi", compare.Budget{More: 10 << 20}, ""},
		{"requests.stale.n", "7", compare.Budget{More: 7}, ""},
		{"reloads", "few", compare.Budget{}, "such as 3"},
		{"reloads", "-1", compare.Budget{}, "such as 3"},
		{"reloads", "NaN", compare.Budget{}, "such as 3"},
		{"reloads", "Inf", compare.Budget{}, "such as 3"},
		{"requests.latency.p50", "2", compare.Budget{}, "such as 5ms"},
		{"requests.latency.p50", "-2ms", compare.Budget{}, "such as 5ms"},
		{"memory.peakRSS", "10MB!", compare.Budget{}, "such as 10Mi"},
		{"reloads", "-5%", compare.Budget{}, "before the %"},
		{"reloads", "NaN%", compare.Budget{}, "before the %"},
		{"reload", "1", compare.Budget{}, `no figure "reload"; the figures are reloads,`},
	} {
		got, err := readBudget(test.figure, test.amount)
		if got != test.want || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
			t.Errorf("%s=%s: %+v, %v", test.figure, test.amount, got, err)
		}
	}
}
