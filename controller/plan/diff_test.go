package plan_test

import (
	"reflect"
	"testing"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

func TestStepsLeadToTheWantedState(t *testing.T) {
	states := []plan.State{
		{},
		{Conf: conf.Whole([]byte("a;\n")), LuaConfig: []byte("{}\n"), Backends: wire.NewList()},
		{Conf: conf.Whole([]byte("b;\n")), LuaConfig: []byte("{}\n"), Backends: wire.NewList()},
		{Conf: conf.Whole([]byte("a;\n")), LuaConfig: []byte("{\n\"x\": 1\n}\n"), Backends: wire.NewList()},
		{Conf: conf.Whole([]byte("b;\n")), LuaConfig: []byte("{}\n"), Backends: wire.NewList(&wire.Backend{Name: "x", JSON: []byte(`{"name":"x"}`)})},
		{Conf: conf.Whole([]byte("a;\n# only a comment\n")), LuaConfig: []byte("{}\n"), Backends: wire.NewList(&wire.Backend{Name: "x", JSON: []byte("not JSON")})},
	}
	for i, running := range states {
		for j, next := range states {
			steps := plan.Diff(running, next)
			if i == j {
				if len(steps) > 0 {
					t.Errorf("state %d to itself: %v", i, steps)
				}
				continue
			}
			if len(steps) == 0 {
				t.Fatalf("state %d to %d: no step", i, j)
			}
			if last := steps[len(steps)-1].Next; !reflect.DeepEqual(last, next) {
				t.Errorf("state %d to %d: the last step leads to %s", i, j, last.Conf)
			}
			for _, step := range steps {
				if len(step.Why) == 0 {
					t.Errorf("state %d to %d: step %s has no reason", i, j, step.Kind)
				}
			}
		}
	}
}

// For any two nginx.conf files whose bytes differ, there is a step, and it has a reason.
func FuzzDiff(f *testing.F) {
	f.Add("server {\nserver_name a;\nlocation / {\nset $x 1;\n}\n}\n", "server {\nserver_name a;\nlocation / {\nset $x 2;\n}\n}\n", "{}", `{"name":"x","endpoints":[{"address":"a","port":"1"}]}`)
	f.Add("}\n{\nserver_name", "  a;\n# b", `{"name":1,"endpoints":{}}`, "null")
	f.Fuzz(func(t *testing.T, oldConf, newConf, oldBackends, newBackends string) {
		list := func(text string) wire.List { return wire.NewList(&wire.Backend{Name: "x", JSON: []byte(text)}) }
		steps := plan.Diff(plan.State{Conf: conf.Whole([]byte(oldConf)), Backends: list(oldBackends)}, plan.State{Conf: conf.Whole([]byte(newConf)), Backends: list(newBackends)})
		if equal := oldConf == newConf && oldBackends == newBackends; equal != (len(steps) == 0) {
			t.Errorf("the states are equal: %t, steps %v", equal, steps)
		}
		for _, step := range steps {
			if len(step.Why) == 0 || len(step.Why) > 21 {
				t.Errorf("%s has %d reasons", step.Kind, len(step.Why))
			}
		}
	})
}
