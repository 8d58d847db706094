package measure

import (
	"strings"
	"testing"
	"time"
)

// Gaps between polls make a run void if they are longer than what they measure. A few long ones do not
// move the median.
func TestCoarseProbes(t *testing.T) {
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		gaps, last Durations
		void       string
	}{
		"fine":            {Durations{N: 9, P50: 2 * ms, P99: 8 * ms}, Durations{N: 9, P50: 9 * ms, P99: 30 * ms}, ""},
		"rare long gaps":  {Durations{N: 9, P50: 2 * ms, P99: 11 * ms}, Durations{N: 9, P50: 9 * ms, P99: 30 * ms}, ""},
		"long gaps":       {Durations{N: 9, P50: 10 * ms, P99: 11 * ms}, Durations{N: 9, P50: 9 * ms, P99: 30 * ms}, "p50 10ms, last convergence of p50 9ms"},
		"very long gaps":  {Durations{N: 9, P50: 2 * ms, P99: 31 * ms}, Durations{N: 9, P50: 9 * ms, P99: 30 * ms}, "p99 31ms, last convergence of p99 30ms"},
		"nothing to poll": {Durations{N: 9, P50: 2 * ms, P99: 8 * ms}, Durations{}, ""},
	} {
		s := Subject{Converge: Converge{Granularity: test.gaps, Last: test.last}}
		newValidity(nil).Result(&s, &Timeline{})
		found := ""
		for _, why := range s.Invalid {
			if _, gaps, ok := strings.Cut(why, "coarser than what they measure: gaps of "); ok {
				found += gaps
			}
		}
		if found != test.void {
			t.Errorf("%s: %q, want %q", name, found, test.void)
		}
	}
}
