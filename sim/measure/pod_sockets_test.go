package measure

import (
	"testing"

	"windtunnel.dev/sim/event"
)

func TestPodSockets(t *testing.T) {
	own := event.PodSockets{Mode: event.OwnSockets, Why: "not permitted"}
	if got := measureRound(t, event.Event{PodSockets: &own}).PodSockets; got != own {
		t.Errorf("%+v, want %+v", got, own)
	}
	if got := measureRound(t).PodSockets; got.Mode != "" {
		t.Errorf("of a log without them: %+v", got)
	}
}
