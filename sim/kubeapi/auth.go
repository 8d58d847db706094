package kubeapi

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Auth says who must show the server's token, or a certificate that it has made.
type Auth string

const (
	// AuthTLS asks whoever comes over HTTPS. Plain HTTP, which is loopback only,
	// is open: clients send nothing from a kubeconfig there.
	AuthTLS Auth = "tls"
	// AuthAll asks everyone.
	AuthAll Auth = "all"
	// AuthNone asks nobody; loopback only.
	AuthNone Auth = "none"
)

func (a Auth) check() (Auth, error) {
	switch a {
	case "":
		return AuthTLS, nil
	case AuthTLS, AuthAll, AuthNone:
		return a, nil
	}
	return "", fmt.Errorf("kubeapi: no authentication %q; there are %s, %s and %s", a, AuthTLS, AuthAll, AuthNone)
}

// minToken is the length of the shortest token taken from an operator.
const minToken = 16

// errAnonymous is for who shows nothing; who shows something wrong gets a 401.
var errAnonymous = errors.New("anonymous")

// authenticated serves those who may come in; whoever may do everything.
func (s *Server) authenticated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, err := s.authenticate(req)
		switch {
		case err == nil || (errors.Is(err, errAnonymous) && openToAll(req.URL.Path)):
			next.ServeHTTP(w, withUser(req, user))
		case errors.Is(err, errAnonymous):
			refuse(w, req, forbidAnonymous(req))
		default:
			refuse(w, req, err)
		}
	})
}

// authenticate returns who a certificate says it is, nil for the administrator.
func (s *Server) authenticate(req *http.Request) (*authenticationv1.UserInfo, error) {
	if s.auth == AuthNone || (s.auth == AuthTLS && req.TLS == nil) {
		return nil, nil
	}
	shown := false
	if req.TLS != nil && len(req.TLS.PeerCertificates) > 0 {
		if cert := req.TLS.PeerCertificates[0]; s.identity.trusts(cert) {
			return userOfCertificate(cert), nil
		}
		shown = true
	}
	if header := req.Header.Get("Authorization"); header != "" {
		scheme, token, _ := strings.Cut(header, " ")
		if strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare([]byte(strings.TrimSpace(token)), []byte(s.token)) == 1 {
			return nil, nil
		}
		shown = true
	}
	if shown {
		return nil, apierrors.NewUnauthorized("Unauthorized")
	}
	return nil, errAnonymous
}

// openToAll has the paths that Kubernetes' default roles open to everyone.
func openToAll(path string) bool {
	for _, open := range []string{"/healthz", "/livez", "/readyz", "/version"} {
		if path == open || strings.HasPrefix(path, open+"/") {
			return true
		}
	}
	return false
}

// forbidAnonymous words what the role-based authorizer has to say.
func forbidAnonymous(req *http.Request) error {
	const user = `User "system:anonymous"`
	p, ok := parsePath(req.URL.Path)
	if !ok {
		return forbidden("", fmt.Sprintf("forbidden: %s cannot %s path %q", user, strings.ToLower(req.Method), req.URL.Path), p)
	}
	verb := verbOf(req, p.name != "")
	if verb == "watchlist" {
		verb = "watch"
	}
	where := "at the cluster scope"
	if p.namespace != "" {
		where = fmt.Sprintf("in the namespace %q", p.namespace)
	}
	resource := p.resource
	if p.subresource != "" {
		resource += "/" + p.subresource
	}
	return forbidden(p.name, fmt.Sprintf("%s cannot %s resource %q in API group %q %s", user, verb, resource, p.gv.Group, where), p)
}

func forbidden(name, message string, p path) error {
	err := apierrors.NewForbidden(p.gv.WithResource(p.resource).GroupResource(), name, errors.New(message))
	if p.resource == "" {
		err.ErrStatus.Message = message
		err.ErrStatus.Details = nil
	}
	return err
}
