package measure_test

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// grown returns the trend of an hour in which nginx's memory follows of, a function of the elapsed
// share of the hour. All other values are constant.
func grown(t *testing.T, samples int, of func(share float64) float64) measure.Trends {
	t.Helper()
	var out bytes.Buffer
	log := event.NewLog(&out, time.Now())
	log.Write(event.Event{Run: &event.Run{Schema: event.Schema, Scenario: "test", Subjects: []string{"a"}}})
	phase := func(at time.Duration, name event.PhaseName) {
		log.Write(event.Event{At: at, Subject: "a", Phase: &event.Phase{Name: name, Round: 1}})
	}
	phase(time.Minute, event.RoundBegin)
	for i := range samples {
		share := float64(i) / float64(samples)
		log.Write(event.Event{At: time.Minute + time.Duration(share*float64(time.Hour)), Subject: "a", Usage: &event.Usage{
			NginxRSS: int64(of(share)), ControllerRSS: 50 << 20, ControllerFiles: 20,
		}})
	}
	phase(time.Hour+time.Minute, event.RoundEnd)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	result, _, err := measure.From(event.Read(&out))
	if err != nil {
		t.Fatal(err)
	}
	return result.Subjects[0].Trend
}

func TestTrend(t *testing.T) {
	const mega = 1 << 20
	var chance *rand.Rand // a new one per case: one noise in twenty would look like a trend
	noise := func() float64 { return 5 * mega * chance.NormFloat64() }
	for name, test := range map[string]struct {
		of        func(share float64) float64
		low, high float64 // the bounds of the trend
	}{
		"a leak":  {func(s float64) float64 { return 200*mega + 40*mega*s + noise() }, 38 * mega, 42 * mega},
		"noise":   {func(float64) float64 { return 200*mega + noise() }, -2 * mega, 2 * mega},
		"a cache": {func(s float64) float64 { return 100*mega + 100*mega*min(1, s*12) + noise() }, -2 * mega, 2 * mega},
		"a peak":  {func(s float64) float64 { return 200*mega + 5000*mega*max(0, s-0.99) + noise() }, -2 * mega, 4 * mega},
	} {
		t.Run(name, func(t *testing.T) {
			chance = rand.New(rand.NewPCG(1, 3))
			got := grown(t, 3600, test.of).NginxRSS
			if got.PerHour < test.low || got.PerHour > test.high || got.Low > got.PerHour || got.High < got.PerHour {
				t.Errorf("got %+v, want %.0f to %.0f", got, test.low, test.high)
			}
			if grows := got.Low > 0; grows != (test.low > 0) {
				t.Errorf("%+v: growth %v", got, grows)
			}
		})
	}
}

// A constant value has a trend of zero. A value without enough samples has no trend.
func TestNoTrend(t *testing.T) {
	still := func(float64) float64 { return 1 << 30 }
	got := grown(t, 3600, still)
	if got.NginxRSS.N == 0 || got.NginxRSS.PerHour != 0 || got.ControllerFiles.N == 0 {
		t.Errorf("got %+v", got)
	}
	if got.NginxPSS != (measure.Trend{}) || got.NginxFiles.N != 0 {
		t.Errorf("a trend without samples: %+v", got)
	}
	if got := grown(t, 8, still); got.NginxRSS.N != 0 {
		t.Errorf("a trend of only eight samples: %+v", got)
	}
}
