package measure_test

import (
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/measure"
)

func TestAt(t *testing.T) {
	s := measure.Subject{Reloads: 4, Lanes: []measure.Lane{{Name: "post", Requests: measure.Requests{Failed: 6, Latency: measure.Durations{N: 1, P99: time.Second}}}}}
	s.Requests.Failed = 10
	s.Converge.Legs.Sync = measure.Durations{N: 3, P50: 250 * time.Millisecond}
	s.CPU.Nginx = 2 * time.Second
	s.NotApplicable = []measure.NotApplicable{{Measurements: []string{"posts"}, Why: "it has none"}}
	for name, want := range map[string]struct {
		kind  measure.Kind
		value float64
		ok    bool
	}{
		"reloads":                   {measure.Count, 4, true},
		"failed":                    {measure.Count, 10, true}, // a unit of the benchmark format
		"converge.way.sync.p50":     {measure.Time, 0.25, true},
		"converge.way.wait.p50":     {measure.Time, 0, false},
		"converge.way.wait.n":       {measure.Count, 0, true},
		"lanes.post.failed":         {measure.Count, 6, true},
		"lanes.post.latency.p99":    {measure.Time, 1, true},
		"lanes.http.failed":         {measure.Count, 0, false},
		"requests.failed/reloads":   {measure.Number, 2.5, true},
		"cpu.nginx/reloads":         {measure.Time, 0.5, true},
		"cpu.nginx/reloads/reloads": {measure.Time, 0.125, true},
		"reloads/faults":            {measure.Number, 0, false},
		"memory.startRSS":           {measure.Bytes, 0, false},
		"posts.count":               {measure.Count, 0, false},
		"trend.nginxRSS.perHour":    {measure.Number, 0, false},
	} {
		f, err := measure.At(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if value, ok := f.Of(s); f.Kind != want.kind || value != want.value && ok || ok != want.ok {
			t.Errorf("%s: %s %v %v, want %+v", name, f.Kind, value, ok, want)
		}
	}
}

func TestAtUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"reload":            "did you mean reloads?",
		"converge.last":     "add one of its fields: max, n",
		"lanes.post":        "write lanes.LANE.FIELD",
		"lanes.post.fail":   "there is no number of a lane fail",
		"workers.history":   "workers.history is not a number",
		"reloads/x":         "there is no measurement x",
		"name":              "name is not a number",
		"":                  "there is no measurement",
		"requests.failed/":  "there is no measurement",
		"converge.way.sync": "add one of its fields",
	} {
		if _, err := measure.At(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}
