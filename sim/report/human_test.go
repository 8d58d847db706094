package report

import "testing"

func TestPercent(t *testing.T) {
	for rate, want := range map[float64]string{0: "0 %", 1.5e-9: "0.00000015 %", 9.6e-7: "0.000096 %", 0.000451: "0.045 %", 0.0054: "0.54 %", 0.0994: "9.9 %", 0.1: "10 %", 0.996: "100 %", 1: "100 %"} {
		if got := percent(rate); got != want {
			t.Errorf("%v: %s, want %s", rate, got, want)
		}
	}
}
