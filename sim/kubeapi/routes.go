package kubeapi

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// maxHeader is the maximum size of the request line and headers in bytes, as in kube-apiserver.
const maxHeader = 1 << 20

var errUnknownPath = errors.New("404 page not found")

// handler returns the handler of all requests.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc(path, s.serveHealth)
		mux.HandleFunc(path+"/", s.serveHealth)
	}
	mux.HandleFunc("/version", s.serveVersion)
	mux.Handle("/metrics", s.metrics.handler)
	groups := func(w http.ResponseWriter, req *http.Request) { serveDiscovery(w, req, s.state.Served()) }
	mux.HandleFunc("/api", groups)
	mux.HandleFunc("/apis", groups)
	mux.HandleFunc("/openapi/v2", s.openAPI.serveSwagger)
	mux.HandleFunc("/openapi/v3", s.openAPI.serve)
	mux.HandleFunc("/openapi/v3/", s.openAPI.serve)
	mux.HandleFunc("/", s.serve)
	routed := http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if isResource := strings.HasPrefix(req.URL.Path, "/api/") || strings.HasPrefix(req.URL.Path, "/apis/"); isResource {
			s.serve(w, req) // these requests are the most frequent, and the mux takes time
			return
		}
		mux.ServeHTTP(w, req)
	})
	return s.withRecovery(s.withBodyTimeout(withPlainPaths(s.withHostCheck(s.withRefusalWhileStopping(s.withAuthentication(s.withFaults(routed)))))))
}

// serve answers a request about a resource, or the discovery of a group.
func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if serveGroup(w, req, s.state.Served()) {
		return
	}
	r := &request{server: s, Request: req, query: req.URL.Query(), codec: codec.JSON{}, warnings: &warningHeader{header: w.Header()}}
	r.Caller = r
	req.Body = http.MaxBytesReader(w, req.Body, codec.MaxBody)
	started := time.Now()
	if err := s.answer(w, r); err != nil {
		s.reportError(req, err)
		r.code = fail(w, r, err)
	}
	r.releaseBody()
	s.metrics.count(r, cmp.Or(r.code, http.StatusOK), time.Since(started))
}

// answer answers a request. It returns an error only if it has written nothing.
func (s *Server) answer(w http.ResponseWriter, r *request) error {
	if err := s.resolve(r); err != nil {
		return err
	}
	var err error
	if r.codec, r.representation, err = codec.Negotiate(r.Request, r.Resource.Custom != nil); err != nil {
		return err
	}
	if _, rows := r.representation.(codec.Table); r.Resource.View != nil && (!rows || r.Resource.Custom != nil) {
		r.representation = codec.View{Representation: r.representation, Resource: r.Resource}
	}
	verb := s.verb(r)
	if verb == nil {
		return cluster.ErrMethod()
	}
	defer s.metrics.begin(r)()
	return verb(w, r)
}

// verb returns the handler of a request, or nil if its method is not supported.
func (s *Server) verb(r *request) func(http.ResponseWriter, *request) error {
	one := r.Name != ""
	switch {
	case r.Resource.Review != nil:
		return s.reviewVerb(r)
	case r.wantsContainer():
		return s.noContainers
	case r.Resource.Posted(r.Subresource) != nil:
		return s.postVerb(r)
	case r.Subresource == "finalize" && r.Method != http.MethodPut:
		return nil
	case r.Subresource == resource.ScaleSubresource:
		return s.serveScale
	case r.Method == http.MethodGet && one: // also with watch=true
		return s.get
	case r.Method == http.MethodGet && watching(r):
		return s.watch
	case r.Method == http.MethodGet:
		return s.list
	case r.Method == http.MethodPost && !one:
		return s.create
	case r.Method == http.MethodPut && one:
		return s.update
	case r.Method == http.MethodPatch && one:
		return s.patch
	case r.Method == http.MethodDelete && one && r.Subresource == "":
		return s.delete
	case r.Method == http.MethodDelete && !one && !r.Resource.NoDeleteAll && (r.Namespace != "" || r.Resource.ClusterScoped):
		return s.deleteCollection
	}
	return nil
}

// withPlainPaths answers 404 to ambiguous paths: those with empty or dotted elements, or with
// encoded slashes. The mux would redirect some of them.
func withPlainPaths(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if ambiguous(req.URL) {
			http.Error(w, errUnknownPath.Error(), http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, req)
	})
}

func ambiguous(u *url.URL) bool {
	if !strings.HasPrefix(u.Path, "/") || strings.Contains(strings.ToLower(u.RawPath), "%2f") {
		return true
	}
	path := strings.TrimSuffix(u.Path[1:], "/")
	for e := range strings.SplitSeq(path, "/") {
		if e == "." || e == ".." || (e == "" && path != "") {
			return true
		}
	}
	return false
}

// watching reports whether the watch parameter is true. As in Kubernetes, every value except
// "false" and "0" is true.
func watching(r *request) (watch bool) {
	values, given := r.query["watch"]
	if given {
		runtime.Convert_Slice_string_To_bool(&values, &watch, nil) // never fails
	}
	return watch
}
