package kubeapi

import (
	"context"
	"crypto/x509"
	"net/http"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Webhooks and reviews get the user of a request. With the administrator's token, or on a server that
// allows anonymous requests, that is the administrator. A certificate names its user and groups.

const allAuthenticated = "system:authenticated"

func administrator() authenticationv1.UserInfo {
	return authenticationv1.UserInfo{Username: "kubernetes-admin", Groups: []string{"system:masters", allAuthenticated}}
}

// userOfCertificate returns the user that a client's certificate names, by the rules of Kubernetes.
func userOfCertificate(cert *x509.Certificate) *authenticationv1.UserInfo {
	groups := slices.Clone(cert.Subject.Organization)
	if !slices.Contains(groups, allAuthenticated) {
		groups = append(groups, allAuthenticated)
	}
	return &authenticationv1.UserInfo{Username: cert.Subject.CommonName, Groups: groups}
}

type userKey struct{}

// withUser sets the user of a request, unless it is the administrator.
func withUser(req *http.Request, user *authenticationv1.UserInfo) *http.Request {
	if user == nil {
		return req
	}
	return req.WithContext(context.WithValue(req.Context(), userKey{}, user))
}

// User returns the user who sent the request.
func (r *request) User() authenticationv1.UserInfo {
	if user, ok := r.Context().Value(userKey{}).(*authenticationv1.UserInfo); ok {
		return *user
	}
	return administrator()
}
