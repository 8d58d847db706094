package kubeapi

import (
	"errors"
	"net"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// withHostCheck refuses requests with a Host header that does not name this server, like kubectl
// proxy (--accept-hosts). It prevents DNS rebinding: the name of a web page may resolve to
// 127.0.0.1, so a browser on this machine would treat this server as the page's own.
func (s *Server) withHostCheck(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if s.isNamed(req.Host) {
			next.ServeHTTP(w, req)
			return
		}
		err := apierrors.NewForbidden(schema.GroupResource{}, "", errors.New("")) // the message of NewForbidden needs a resource
		err.ErrStatus.Message = "forbidden: the Host header must name a loopback address or an address that the server listens on"
		err.ErrStatus.Details = nil
		refuse(w, req, err)
	})
}

// isNamed reports whether a Host header, with or without a port, names this server.
func (s *Server) isNamed(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	return loopback(host) || s.names[host]
}

// nameAfter adds the addresses of a listener to the server's names.
func (s *Server) nameAfter(l net.Listener) {
	for _, ip := range addressesOf(l) {
		s.names[ip.String()] = true
	}
}
