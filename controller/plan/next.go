package plan

import (
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/wire"
)

// Next is the state that nginx should be in. An error is one of the template,
// with its file and line.
func Next(m *model.Model, in render.Input) (State, error) {
	conf, err := render.Render(m, in)
	if err != nil {
		return State{}, err
	}
	luaConfig, err := wire.LuaConfig(in.Options)
	if err != nil {
		return State{}, err
	}
	backends, err := wire.Backends(m, in.Options)
	if err != nil {
		return State{}, err
	}
	stream, err := wire.StreamBackends(m, in.Options)
	if err != nil {
		return State{}, err
	}
	return State{Conf: conf, LuaConfig: luaConfig, Backends: backends, Stream: stream}, nil
}
