package kubeapi

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// The largest request body, and request line with headers, that are taken, as kube-apiserver's.
const (
	maxBody   = 3 << 20
	maxHeader = 1 << 20
)

var errUnknownPath = errors.New("404 page not found")

// handler answers everything the server serves.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	for _, path := range []string{"/healthz", "/livez", "/readyz"} {
		mux.HandleFunc(path, s.serveHealth)
		mux.HandleFunc(path+"/", s.serveHealth)
	}
	mux.HandleFunc("/version", s.serveVersion)
	mux.HandleFunc("/api", s.serveDiscovery)
	mux.HandleFunc("/apis", s.serveDiscovery)
	mux.HandleFunc("/openapi/v2", s.serveSwagger)
	mux.HandleFunc("/openapi/v3", s.serveOpenAPI)
	mux.HandleFunc("/openapi/v3/", s.serveOpenAPI)
	mux.HandleFunc("/", s.serve)
	return s.surviving(s.hastened(plainPaths(s.hostChecked(s.whileUp(s.authenticated(s.disturbed(mux)))))))
}

// serve answers a request about a resource, or the discovery of a group.
func (s *Server) serve(w http.ResponseWriter, req *http.Request) {
	if s.serveGroup(w, req) {
		return
	}
	r := &request{server: s, Request: req, query: req.URL.Query(), codec: jsonCodec{}, warnings: &warningHeader{header: w.Header()}}
	r.caller = r
	req.Body = http.MaxBytesReader(w, req.Body, maxBody)
	if err := s.answer(w, r); err != nil {
		s.reportError(req, err)
		fail(w, r, err)
	}
}

// answer returns an error only if it has written nothing.
func (s *Server) answer(w http.ResponseWriter, r *request) error {
	if err := s.resolve(r); err != nil {
		return err
	}
	var err error
	if r.codec, r.form, err = negotiate(r.Request, r.res.custom != nil); err != nil {
		return err
	}
	if _, rows := r.form.(tableForm); r.res.view != nil && (!rows || r.res.custom != nil) {
		r.form = viewForm{r.form, r.res}
	}
	verb := s.verb(r)
	if verb == nil {
		return errMethod()
	}
	return verb(w, r)
}

// verb returns what answers a request, nil if nothing does.
func (s *Server) verb(r *request) func(http.ResponseWriter, *request) error {
	one := r.name != ""
	switch {
	case r.res.review != nil:
		return s.reviewVerb(r)
	case r.wantsContainer():
		return s.noContainers
	case r.subresource == "binding":
		return s.bindingVerb(r)
	case r.subresource == "finalize" && r.Method != http.MethodPut:
		return nil
	case r.subresource == scaleSubresource:
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
	case r.Method == http.MethodDelete && one && r.subresource == "":
		return s.delete
	case r.Method == http.MethodDelete && !one && !r.res.noDeleteAll && (r.namespace != "" || r.res.clusterScoped):
		return s.deleteCollection
	}
	return nil
}

// plainPaths answers paths that can be read in more than one way as unknown: with
// empty or dotted elements, or with encoded slashes. The mux would redirect some.
func plainPaths(next http.Handler) http.Handler {
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
	elements := strings.Split(strings.TrimSuffix(u.Path[1:], "/"), "/")
	for _, e := range elements {
		if e == "." || e == ".." || (e == "" && len(elements) > 1) {
			return true
		}
	}
	return false
}

// watching reads the parameter as Kubernetes does: all is true but "false" and "0".
func watching(r *request) (watch bool) {
	values, given := r.query["watch"]
	if given {
		runtime.Convert_Slice_string_To_bool(&values, &watch, nil) // never fails
	}
	return watch
}

func (s *Server) serveHealth(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", noCache)
	w.Write([]byte("ok"))
}
