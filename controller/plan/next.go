package plan

import (
	"cmp"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/controller/internal/inplace"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/tracing"
	"windtunnel.dev/controller/wire"
)

// Next returns the state that nginx should have. Errors come from the template and have its file
// and line.
func Next(m *model.Model, in render.Input) (State, error) {
	return new(Memo).Next(m, in)
}

// Memo computes a sequence of states. If two models differ only in endpoints, it recomputes only
// the parts of the state that depend on endpoints. The results are the same as those of Next.
type Memo struct {
	model        *model.Model // nil before the first state
	input        render.Input
	inputs       inplace.Comparer[render.Input]
	state        State
	rendered     render.Memo
	backends     wire.Memo
	certificates wire.CertificatesMemo
}

// Next returns the same as the function of that name.
func (memo *Memo) Next(m *model.Model, in render.Input) (State, error) {
	state, err := memo.next(m, in)
	if err != nil {
		return State{}, err
	}
	memo.model, memo.input, memo.state = m, in, state
	return state, nil
}

func (memo *Memo) next(m *model.Model, in render.Input) (state State, err error) {
	if memo.holds(m, in) {
		state = memo.state
		state.Backends, err = memo.backends.Backends(m, in.Options)
		return state, err
	}
	memo.model = nil
	return memo.whole(m, in)
}

// whole renders nginx.conf and encodes the backends concurrently.
func (memo *Memo) whole(m *model.Model, in render.Input) (State, error) {
	var backends wire.List
	var encoding errgroup.Group
	encoding.Go(func() (err error) {
		backends, err = memo.backends.Backends(m, in.Options)
		return err
	})
	state, err := memo.static(m, in)
	err = cmp.Or(err, encoding.Wait())
	state.Backends = backends
	return state, err
}

// holds reports whether the new state can differ from the last one only in Backends.
func (memo *Memo) holds(m *model.Model, in render.Input) bool {
	return memo.model != nil && m.SameButEndpoints(memo.model) && !render.ReadsEndpoints(in) && memo.inputs.Equal(in, &memo.input)
}

// static returns everything in the state that does not depend on the endpoints of backends.
func (memo *Memo) static(m *model.Model, in render.Input) (State, error) {
	conf, err := memo.rendered.Render(m, in)
	if err != nil {
		return State{}, err
	}
	luaConfig, err := wire.LuaConfig(m, in.Options)
	if err != nil {
		return State{}, err
	}
	stream, err := wire.StreamBackends(m, in.Options)
	if err != nil {
		return State{}, err
	}
	passthrough, err := wire.PassthroughOf(m, in.Options)
	if err != nil {
		return State{}, err
	}
	return State{
		Conf: conf, LuaConfig: luaConfig, Files: m.Files, Stream: stream,
		Certificates: memo.certificates.Of(m), Passthrough: passthrough, Tracing: tracing.Files(in.Options), AcceptsDeltas: in.Options.BackendsDelta,
	}, nil
}
