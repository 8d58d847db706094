package render

import (
	"bytes"
	"reflect"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/model"
)

// Memo renders a sequence of models. With our template, it renders a server again only if the
// server, or an input that all servers share, changed. Servers are compared by identity, because
// nobody modifies them. The results have the same bytes as those of Render. The zero value is ready
// to use.
type Memo struct {
	shared      *root // the inputs of the last rendering's pieces besides their own server
	top, bottom *conf.Piece
	pieces      map[any]*conf.Piece // by *model.Server or model.Redirect
}

// Render returns nginx.conf for m. Errors come from the template: "file:line: message".
func (memo *Memo) Render(m *model.Model, in Input) (conf.Text, error) {
	all := newRoot(m, in)
	if in.Template != nil {
		text, err := in.Template.execute(all)
		if err != nil {
			return conf.Text{}, err
		}
		return conf.Whole(adapt(indent(text), in)), nil
	}
	shared := all.withoutServers()
	if memo.shared == nil || ReadsEndpoints(in) || !shared.same(memo.shared) {
		memo.pieces = nil
	}
	top, err := renderFile("top.tmpl", all, 0)
	if err != nil {
		return conf.Text{}, err
	}
	bottom, err := renderFile("bottom.tmpl", all, insideHTTP)
	if err != nil {
		return conf.Text{}, err
	}
	keys := make([]any, 0, len(m.RedirectServers)+len(m.Servers))
	for _, redirect := range m.RedirectServers {
		keys = append(keys, redirect)
	}
	for _, server := range m.Servers {
		keys = append(keys, server)
	}
	pieces, err := memo.renderServers(keys, shared)
	if err != nil {
		return conf.Text{}, err
	}
	memo.shared, memo.top, memo.bottom = shared, unchanged(memo.top, top), unchanged(memo.bottom, bottom)
	memo.pieces = make(map[any]*conf.Piece, len(keys))
	for i, key := range keys {
		memo.pieces[key] = pieces[i]
	}
	return conf.Of(append(append([]*conf.Piece{memo.top}, pieces...), memo.bottom)...), nil
}

// insideHTTP is the depth of a server block.
const insideHTTP = 1

// unchanged returns before if it has the same bytes as now, so texts share it.
func unchanged(before, now *conf.Piece) *conf.Piece {
	if before != nil && conf.Of(before).Equal(conf.Of(now)) {
		return before
	}
	return now
}

// renderServers returns one piece for each key: that of the last rendering if there is one. It
// renders the others in parallel.
func (memo *Memo) renderServers(keys []any, shared *root) ([]*conf.Piece, error) {
	pieces, missing := make([]*conf.Piece, len(keys)), []int(nil)
	for i, key := range keys {
		if pieces[i] = memo.pieces[key]; pieces[i] == nil {
			missing = append(missing, i)
		}
	}
	errs := make([]error, len(keys))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	const batch = 16
	for len(missing) > 0 {
		some := missing[:min(batch, len(missing))]
		missing = missing[len(some):]
		group.Go(func() error {
			for _, i := range some {
				pieces[i], errs[i] = renderServer(keys[i], shared)
			}
			return nil
		})
	}
	_ = group.Wait() // errs has the errors in order
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return pieces, nil
}

func renderServer(key any, shared *root) (*conf.Piece, error) {
	if redirect, ok := key.(model.Redirect); ok {
		return renderFile("redirect.tmpl", redirected{shared, redirect}, insideHTTP)
	}
	return renderPiece(insideHTTP, func(out *bytes.Buffer) error {
		return quick.writeServer(out, serverConfig(shared, key.(*model.Server))) //nolint:forcetypeassert // see Memo.pieces
	})
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// renderFile executes one of the files that nginx.tmpl includes.
func renderFile(file string, data any, depth int) (*conf.Piece, error) {
	return renderPiece(depth, func(out *bytes.Buffer) error { return quick.ExecuteTemplate(out, file, data) })
}

// renderPiece returns the output of write, indented. As in nginx.tmpl, a blank line precedes each
// piece.
func renderPiece(depth int, write func(out *bytes.Buffer) error) (*conf.Piece, error) {
	buffer := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // see buffers
	defer buffers.Put(buffer)
	buffer.Reset()
	if err := write(buffer); err != nil {
		return nil, ours.readable(err)
	}
	indented := buffers.Get().(*bytes.Buffer) //nolint:forcetypeassert // see buffers
	defer buffers.Put(indented)
	indented.Reset()
	indentTo(indented, buffer.Bytes(), depth)
	if depth == 0 {
		return conf.NewPiece(bytes.Clone(indented.Bytes())), nil
	}
	return conf.NewPiece(slices.Concat([]byte("\n"), indented.Bytes())), nil
}

// withoutServers returns the data that the templates of servers read besides their own server. It
// contains no other servers, so no piece can depend on them.
func (r *root) withoutServers() *root {
	shared := *r
	shared.Servers, shared.RedirectServers, shared.Modules = nil, nil, nil
	shared.TCPBackends, shared.UDPBackends, shared.StreamSnippets, shared.PassthroughBackends = nil, nil, nil, nil
	return &shared
}

// same reports whether the pieces of servers would be the same with another root. A server's piece
// depends on backends as well, but only on those that the model changes together with the server;
// see ReadsEndpoints.
func (r *root) same(other *root) bool {
	a, b := *r, *other
	a.Backends, b.Backends = nil, nil
	a.texts, b.texts = nil, nil
	return reflect.DeepEqual(a, b)
}
