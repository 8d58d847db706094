package plan

import (
	"reflect"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tracing"
	"windtunnel.dev/controller/wire"
)

// Next is the state that nginx should be in. An error is one of the template,
// with its file and line.
func Next(m *model.Model, in render.Input) (State, error) {
	return new(Memo).Next(m, in)
}

// Memo works out one state after another, and of a model that differs from the
// one before in endpoints alone only what endpoints change. What it returns is
// what Next would.
type Memo struct {
	model    *model.Model // nil: nothing yet
	input    render.Input
	state    State
	backends wire.Memo
}

// Next is as the function of that name.
func (memo *Memo) Next(m *model.Model, in render.Input) (State, error) {
	state := memo.state
	if !memo.holds(m, in) {
		memo.model = nil
		var err error
		if state, err = static(m, in); err != nil {
			return State{}, err
		}
	}
	backends, err := memo.backends.Backends(m, in.Options)
	if err != nil {
		return State{}, err
	}
	state.Backends = backends
	memo.model, memo.input, memo.state = m, in, state
	return state, nil
}

// holds tells whether nothing but Backends differs from the last state.
func (memo *Memo) holds(m *model.Model, in render.Input) bool {
	return memo.model != nil && m.SameButEndpoints(memo.model) && !render.ReadsEndpoints(in) && reflect.DeepEqual(in, memo.input)
}

// static is all that does not depend on the endpoints of backends.
func static(m *model.Model, in render.Input) (State, error) {
	conf, err := render.Render(m, in)
	if err != nil {
		return State{}, err
	}
	luaConfig, err := wire.LuaConfig(in.Options)
	if err != nil {
		return State{}, err
	}
	stream, err := wire.StreamBackends(m, in.Options)
	if err != nil {
		return State{}, err
	}
	servers, err := wire.Servers(m)
	if err != nil {
		return State{}, err
	}
	passthrough, err := wire.PassthroughOf(m, in.Options)
	if err != nil {
		return State{}, err
	}
	return State{
		Conf: conf, LuaConfig: luaConfig, Files: m.Files, Stream: stream,
		Servers: servers, Passthrough: passthrough, Tracing: tracing.Files(in.Options), TakesDeltas: in.Options.BackendsDelta,
	}, nil
}
