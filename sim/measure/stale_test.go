package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure/measuretest"
)

// An answer is stale if its request was sent after a change removed its pod, until a later change
// adds the pod again.
func TestStaleAnswers(t *testing.T) {
	ms := time.Millisecond
	asked := func(at, lag time.Duration, lane, pod string) event.Event {
		return event.Event{At: at, Subject: "it", Request: &event.Request{Lane: lane, Pod: pod, Lag: lag, Took: ms}}
	}
	result, _, err := From(measuretest.Seq([]event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		{At: 0, Subject: "it", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		asked(50*ms, 0, "tcp", "demo/a"),
		{At: 100 * ms, Subject: "it", Change: &event.Change{ID: 1, Removed: []string{"demo/a"}, Added: []string{"demo/b"}}},
		asked(110*ms, 5*ms, "tcp", "demo/a"),
		asked(120*ms, 0, "tcp", "demo/b"),
		asked(150*ms, 0, "udp", "demo/a"),
		asked(160*ms, 0, "udp", ""),
		{At: 200 * ms, Subject: "it", Change: &event.Change{ID: 2, Removed: []string{"demo/b"}, Added: []string{"demo/a"}}},
		asked(250*ms, 0, "udp", "demo/a"),
		{At: 300 * ms, Subject: "it", Phase: &event.Phase{Name: event.RoundEnd, Round: 1}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	s := result.Subjects[0]
	if got := s.Requests.Stale; got.N != 2 || got.Max.Round(ms) != 50*ms {
		t.Errorf("all lanes: %+v", got)
	}
	if tcp := s.Lanes[0]; tcp.Name != "tcp" || tcp.Stale.N != 1 || tcp.Stale.Max.Round(ms) != 15*ms || tcp.Latency.N != 3 {
		t.Errorf("got %+v", tcp)
	}
}
