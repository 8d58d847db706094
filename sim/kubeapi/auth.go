package kubeapi

import (
	"crypto/subtle"
	"net/http"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"windtunnel.dev/sim/kubeapi/internal/accounts"
)

// minToken is the minimum length of a token that an operator chooses.
const minToken = 16

// withAuthentication serves requests with the token, a client certificate or the token of a service
// account; these may do everything. Others get a 401, except on health paths, as when
// kube-apiserver's AuthenticationConfiguration admits anonymous requests there.
func (s *Server) withAuthentication(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		user, ok := s.authenticate(req)
		actAs, err := impersonate(req.Header)
		switch {
		case !ok && (actAs != nil || err != nil || !openToAll(req.URL.Path)):
			refuse(w, req, apierrors.NewUnauthorized("Unauthorized"))
			return
		case err != nil:
			refuse(w, req, err)
			return
		case actAs != nil:
			user = actAs
		}
		next.ServeHTTP(w, withUser(req, user))
	})
}

// authenticate returns the user of a certificate or of a service account's token, or nil for the
// administrator. It returns false if the credentials are missing or wrong.
func (s *Server) authenticate(req *http.Request) (*authenticationv1.UserInfo, bool) {
	if req.TLS != nil && len(req.TLS.PeerCertificates) > 0 {
		if cert := req.TLS.PeerCertificates[0]; s.identity.Trusts(cert) {
			return userOfCertificate(cert), true
		}
	}
	scheme, token, _ := strings.Cut(req.Header.Get("Authorization"), " ")
	token = strings.TrimSpace(token)
	if bearer := strings.EqualFold(scheme, "bearer"); bearer && s.isToken(token) {
		return nil, true
	} else if bearer && strings.Count(token, ".") == 2 {
		if user, _, err := s.tokens.Check(token, []string{accounts.Name}); err == nil {
			return user, true
		}
	}
	return nil, s.opts.Anonymous
}

// isToken reports whether the token is that of the administrator.
func (s *Server) isToken(token string) bool {
	return subtle.ConstantTimeCompare([]byte(token), []byte(s.token)) == 1
}

// openToAll reports whether the path is a health probe, which needs no credentials.
func openToAll(path string) bool {
	for _, open := range []string{"/healthz", "/livez", "/readyz"} {
		if path == open || strings.HasPrefix(path, open+"/") {
			return true
		}
	}
	return false
}
