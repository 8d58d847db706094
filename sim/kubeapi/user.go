package kubeapi

import (
	"context"
	"crypto/x509"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Who asks is told to webhooks and in reviews. Whoever shows the token, or comes where
// nobody is asked, is the administrator; a certificate names its own user and groups.

const allAuthenticated = "system:authenticated"

func administrator() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "kubernetes-admin", Groups: []string{"system:masters", allAuthenticated}}
}

// userOfCertificate reads a client's certificate as Kubernetes does.
func userOfCertificate(cert *x509.Certificate) *authenticationv1.UserInfo {
	groups := slices.Clone(cert.Subject.Organization)
	if !slices.Contains(groups, allAuthenticated) {
		groups = append(groups, allAuthenticated)
	}
	return &authenticationv1.UserInfo{Username: cert.Subject.CommonName, Groups: groups}
}

type userKey struct{}

// withUser notes a user who is not the administrator.
func withUser(req *http.Request, user *authenticationv1.UserInfo) *http.Request {
	if user == nil {
		return req
	}
	return req.WithContext(context.WithValue(req.Context(), userKey{}, user))
}

// User is who asks.
func (r *request) User() authenticationv1.UserInfo {
	if user, ok := r.Context().Value(userKey{}).(*authenticationv1.UserInfo); ok {
		return *user
	}
	return administrator()
}
