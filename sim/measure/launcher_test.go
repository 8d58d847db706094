package measure

import (
	"testing"

	"windtunnel.dev/sim/event"
)

func TestLauncher(t *testing.T) {
	hidden := event.Launcher{Why: "permission denied"}
	if got := measureRound(t, event.Event{Launcher: &hidden}).Launcher; got != hidden {
		t.Errorf("%+v, want %+v", got, hidden)
	}
	if got := measureRound(t).Launcher; got.Why != "" {
		t.Errorf("of a log without one: %+v", got)
	}
}
