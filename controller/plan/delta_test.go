package plan_test

import (
	"fmt"
	"testing"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

// many returns backends, one of which has the given port.
func many(port int) wire.List {
	var list []*wire.Backend
	add := func(name string, port int) {
		list = append(list, &wire.Backend{Name: name, JSON: fmt.Appendf(nil, `{"name":%q,"port":%d}`, name, port)})
	}
	for i := range 20 {
		add(fmt.Sprint("backend-", i), 80)
	}
	add("last", port)
	return wire.NewList(list...)
}

func deltas(port int) plan.State {
	return plan.State{Conf: conf.Whole([]byte("conf")), Backends: many(port), AcceptsDeltas: true}
}

// post returns the only step from one state to the next.
func post(t *testing.T, running, next plan.State) plan.Step {
	t.Helper()
	steps := plan.Diff(running, next)
	if len(steps) != 1 || steps[0].Kind != plan.PostBackends {
		t.Fatalf("steps %+v, want a POST of backends", steps)
	}
	return steps[0]
}

func TestDeltaIsPlannedWhereItSavesBytes(t *testing.T) {
	if step := post(t, deltas(1), deltas(2)); string(step.Delta) != `{"changed":[{"name":"last","port":2}],"removed":[]}` {
		t.Errorf("delta %s", step.Delta)
	}
	other := deltas(2)
	other.Backends = wire.NewList(&wire.Backend{Name: "other", JSON: []byte(`{"name":"other"}`)})
	if step := post(t, deltas(1), other); step.Delta != nil {
		t.Errorf("planned a delta of %d bytes instead of a list of %d bytes", len(step.Delta), other.Backends.Size())
	}
	unasked := deltas(2)
	unasked.AcceptsDeltas = false
	if step := post(t, deltas(1), unasked); step.Delta != nil {
		t.Error("a delta for Lua that does not accept deltas")
	}
	resized := deltas(2)
	resized.Conf = conf.Whole([]byte("lua_shared_dict configuration_data 30M;"))
	steps := plan.Diff(deltas(1), resized)
	if len(steps) != 2 || steps[1].Delta != nil {
		t.Errorf("a new dictionary: %+v", steps)
	}
	if steps := plan.Diff(plan.State{}, deltas(1)); steps[len(steps)-1].Delta != nil {
		t.Error("planned a delta without a base")
	}
}

// The size of all deltas is limited, because new workers must apply them and shared memory must
// store them.
func TestAllBackendsArePlannedAgainAfterManyDeltas(t *testing.T) {
	running, whole, sinceWhole := deltas(0), 0, 0
	for i := range 100 {
		step := post(t, running, deltas(i+1))
		running = step.Next
		if step.Delta == nil {
			whole++
			sinceWhole = 0
			continue
		}
		if sinceWhole += len(step.Delta); sinceWhole > running.Backends.Size()/2 {
			t.Fatalf("%d bytes of deltas for a full list of %d bytes", sinceWhole, running.Backends.Size())
		}
	}
	if whole == 0 || whole > 20 {
		t.Errorf("%d of 100 POSTs sent all backends", whole)
	}
}
