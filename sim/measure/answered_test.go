package measure_test

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

// An answer without a status, such as a datagram from a pod, has a latency in the figures, in the bins
// and in the heat map.
func TestLatencyOfAnswersWithoutStatus(t *testing.T) {
	const ms = time.Millisecond
	_, series, err := measure.From(measuretest.Seq([]event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		{Subject: "it", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		{At: 10 * ms, Subject: "it", Request: &event.Request{Lane: "udp", Pod: "demo/a", Took: 7 * ms}},
		{At: 20 * ms, Subject: "it", Request: &event.Request{Lane: "udp", Took: time.Second, Cause: event.Timeout}},
		{At: 50 * ms, Subject: "it", Phase: &event.Phase{Name: event.RoundEnd, Round: 1}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := series.Subjects[0]
	if got.Bins[0].Max != 7*ms || got.Bins[0].P50 != 7*ms {
		t.Errorf("the bin: %+v", got.Bins[0])
	}
	if len(got.Heat) != 1 || got.Heat[0].Lane != "udp" || len(got.Heat[0].Columns) != 1 || len(got.Heat[0].Columns[0].Rows) != 1 {
		t.Errorf("the heat maps: %+v", got.Heat)
	}
}
