package measure

import (
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure/measuretest"
)

// A change reaches clients when they get the new certificate. The first new certificate counts by
// the time of its response, the last old one by the time of its request.
func TestCertificates(t *testing.T) {
	ms := time.Millisecond
	shown := func(at, took time.Duration, host, serial string) event.Event {
		return event.Event{At: at, Subject: "it", Request: &event.Request{Lane: "tls", Host: host, Serial: serial, Lag: ms, Took: took, Status: 200}}
	}
	change := func(at time.Duration, id int, host, old, serial string) event.Event {
		return event.Event{At: at, Subject: "it", Change: &event.Change{ID: id, Certificate: &event.Certificate{Host: host, Serial: serial, Old: old}}}
	}
	phase := func(at time.Duration, name event.PhaseName) event.Event {
		return event.Event{At: at, Subject: "it", Phase: &event.Phase{Name: name, Round: 1}}
	}
	result, _, err := From(measuretest.Seq([]event.Event{
		{Run: &event.Run{Schema: event.Schema, Subjects: []string{"it"}}},
		phase(0, event.RoundBegin),
		shown(90*ms, 20*ms, "a", "a1"), // sent before the change
		change(100*ms, 1, "a", "a1", "a2"),
		shown(150*ms, 10*ms, "a", "a1"),
		shown(200*ms, 10*ms, "a", "a2"),
		shown(250*ms, 10*ms, "a", "a1"), // another worker
		shown(260*ms, 10*ms, "a", "fake"),
		change(300*ms, 2, "b", "b1", "b2"),
		shown(310*ms, 5*ms, "b", "b2"),
		change(400*ms, 3, "c", "c1", "c2"),
		shown(410*ms, 5*ms, "c", "c1"),
		phase(500*ms, event.RoundEnd),
		shown(510*ms, 5*ms, "c", "c2"), // no client is left
	}))
	if err != nil {
		t.Fatal(err)
	}
	got := result.Subjects[0].Certificates
	if got.Changed != 3 || got.Unseen != 1 || got.First.N != 2 || got.First.Max != 111*ms || got.Last.Max != 151*ms || got.Last.P50.Round(ms) != 16*ms {
		t.Errorf("got %+v", got)
	}
}
