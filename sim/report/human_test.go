package report

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s", 10: "0.01 µs", 1500: "1.50 µs", 9_999: "10.0 µs", 99_960: "100 µs", 999_499: "999 µs", 999_500: "1.00 ms",
		-999_700: "-1.00 ms", 99_970_000: "100 ms", 999_499_999: "999 ms", 999_500_000: "1.00 s", 1_234_567_890: "1.23 s", 1234 * time.Second: "1234 s",
	} {
		if got := duration(d); got != want {
			t.Errorf("%d ns: %s, want %s", d, got, want)
		}
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 1023: "1023 B", 1024: "1.00 KiB", 1<<20 - 600: "1023 KiB", 1<<20 - 1: "1.00 MiB", 10<<20 - 1: "10.0 MiB", 1<<30 - 1: "1.00 GiB", 1<<40 - 1: "1.00 TiB",
	} {
		if got := size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestBenchmarkName(t *testing.T) {
	for scenario, want := range map[string]string{"reload-vs-dynamic": "ReloadVsDynamic", "änderung über-nacht": "ÄnderungÜberNacht", "10-services": "10Services"} {
		if got := benchmarkName(scenario); got != want {
			t.Errorf("%s: %s, want %s", scenario, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for rate, want := range map[float64]string{0: "0 %", 1.5e-9: "0.00000015 %", 9.6e-7: "0.000096 %", 0.000451: "0.045 %", 0.0054: "0.54 %", 0.0994: "9.9 %", 0.1: "10 %", 0.996: "100 %", 1: "100 %"} {
		if got := percent(rate); got != want {
			t.Errorf("%v: %s, want %s", rate, got, want)
		}
	}
}
