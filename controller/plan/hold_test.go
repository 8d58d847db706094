package plan_test

import (
	"testing"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

// While a reload waits, the running nginx.conf still sends requests to backends that only it uses.
func TestHoldKeepsTheBackendsThatTheRunningConfigurationUses(t *testing.T) {
	state := func(text string, backends ...*wire.Backend) plan.State {
		list := wire.NewList(backends...)
		return plan.State{Conf: conf.Whole([]byte(text)), Backends: list, Stream: list}
	}
	a, b := &wire.Backend{Name: "a", JSON: []byte(`{"name":"a"}`)}, &wire.Backend{Name: "b", JSON: []byte(`{"name":"b"}`)}
	newer := &wire.Backend{Name: "a", JSON: []byte(`{"name":"a","port":1}`)}
	running, next := state("uses a and b", a, b), state("uses a", newer)
	held, want := plan.Hold(running, next), state("uses a and b", newer, b)
	if !held.Conf.Equal(want.Conf) || !held.Backends.Equal(want.Backends) || !held.Stream.Equal(want.Stream) {
		t.Errorf("Hold returns %s with backends %s and stream backends %s", held.Conf, held.Backends.Body(), held.Stream.Body())
	}
}
