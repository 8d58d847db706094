package kubeapi

import (
	"net/http"
	"net/url"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// callOf returns a request as faults see it.
func (s *Server) callOf(req *http.Request) *fault.Call {
	c := &fault.Call{
		Request: fault.Request{
			Verb:       "get",
			Path:       req.URL.Path,
			UserAgent:  req.UserAgent(),
			Connection: connectionOf(req).number,
			Asked:      req.URL.Query().Get("resourceVersion"),
		},
		Context: req.Context(),
		Ending:  s.ending(),
		Reset:   func() { reset(req) },
	}
	p, ok := resource.ParsePath(req.URL.Path)
	if !ok {
		return c
	}
	c.Namespace, c.Name = p.Namespace, p.Name
	c.Resource = p.Resource
	if p.GroupVersion.Group != "" {
		c.Resource += "." + p.GroupVersion.Group
	}
	if p.Subresource != "" {
		c.Resource += "/" + p.Subresource
	}
	c.Verb = verbOf(req, p.Name != "")
	return c
}

// verbOf returns the verb as in RBAC, or "watchlist" for a watch that begins with all current
// objects.
func verbOf(req *http.Request, one bool) string {
	switch req.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if one {
			return "delete"
		}
		return "deletecollection"
	}
	r := &request{Request: req, query: req.URL.Query()}
	switch {
	case one:
		return "get"
	case watching(r):
		if sendsInitialEvents(r.query) {
			return "watchlist"
		}
		return "watch"
	}
	return "list"
}

// sendsInitialEvents reports whether a watch begins with the current objects.
func sendsInitialEvents(query url.Values) bool {
	opts := &internalversion.ListOptions{Watch: true}
	if err := internalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, opts); err != nil {
		return false
	}
	internalversion.SetListOptionsDefaults(opts, true)
	return opts.SendInitialEvents != nil && *opts.SendInitialEvents
}

// withFaults applies the active faults to a request and then serves it.
func (s *Server) withFaults(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		set := s.faults.now.Load()
		if len(set.injections) == 0 {
			next.ServeHTTP(w, req)
			return
		}
		s.serveThrough(set.injections, s.callOf(req), w, req, next)
	})
}

func (s *Server) serveThrough(faults []*injection, c *fault.Call, w http.ResponseWriter, req *http.Request, next http.Handler) {
	for i, in := range faults {
		if in.Serve == nil || !s.faults.hits(in, c, s.state.Version()) {
			continue
		}
		serve := func(w http.ResponseWriter) { s.serveThrough(faults[i+1:], c, w, req, next) }
		if err := in.Serve(in.callFor(c), w, serve); err != nil {
			refuse(w, req, err)
		}
		return
	}
	next.ServeHTTP(w, req)
}

// refuse answers with a Status, in the content type that the client asked for.
func refuse(w http.ResponseWriter, req *http.Request, err error) {
	codec, _, _ := codec.Negotiate(req, false)
	fail(w, &request{Request: req, codec: codec}, err)
}

// callFor returns the call with the information that this fault may use.
func (in *injection) callFor(c *fault.Call) *fault.Call {
	own := *c
	own.Version, own.Healed = in.version, in.healed
	return &own
}

// staleRead returns the objects from which a fault answers a list, if there is such a fault: the
// objects at a version, that version, and a cursor to the events after it.
func (s *Server) staleRead(r *request) (objects []*store.Object, rv uint64, cur *store.Cursor, ok bool) {
	set := s.faults.now.Load()
	if len(set.injections) == 0 || r.query.Has("continue") {
		return nil, 0, nil, false
	}
	c := s.callOf(r.Request)
	for _, in := range set.injections {
		if in.Read == nil || !s.faults.hits(in, c, s.state.Version()) {
			continue
		}
		c.VersionBefore = func(lag time.Duration) uint64 { return max(r.Objects.VersionBefore(lag), fault.Beginning) }
		rv = in.Read(in.callFor(c))
		objects, ok = r.Objects.SnapshotAt(rv)
		cur, _, _ = r.Objects.CursorAt(rv)
		return objects, rv, cur, ok || rv == fault.Beginning
	}
	return nil, 0, nil, false
}
