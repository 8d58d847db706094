package webpage_test

import (
	"slices"
	"testing"

	"windtunnel.dev/internal/browsertest"
	"windtunnel.dev/internal/webpage"
)

// Values have the unit in which they are at least one after they are rounded.
func TestUnits(t *testing.T) {
	p := open(t)
	browsertest.Ask[bool](p, string(webpage.PlotScript(`Object.assign(window, { ms, sizeOf });`))+" true")
	for script, want := range map[string][]string{
		`[0, 0.05, 12.34, 999.4, 999.6, 1000, 61234, null].map(ms)`:                       {"0 ms", "0.05 ms", "12.3 ms", "999 ms", "1 s", "1 s", "61.2 s", "–"},
		`[0, 1, 1022, 1023.6, 1024, 2 ** 20 - 1, 1.5 * 2 ** 30, -2048, null].map(sizeOf)`: {"0 B", "1 B", "1022 B", "1 KiB", "1 KiB", "1 MiB", "1.5 GiB", "-2 KiB", "–"},
	} {
		if got := browsertest.Ask[[]string](p, script); !slices.Equal(got, want) {
			t.Errorf("%s is %q, want %q", script, got, want)
		}
	}
}
