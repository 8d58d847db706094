package model

import "windtunnel.dev/controller/annotations"

// These methods have the names of the fields that templates for ingress-nginx read. In our types,
// the fields are nested differently.

// AffinityType returns "cookie", or "" without affinity.
func (a SessionAffinity) AffinityType() string { return a.Type }

// AffinityMode returns "balanced" or "persistent".
func (a SessionAffinity) AffinityMode() string { return a.Mode }

// CookieSessionAffinity returns the attributes of the affinity cookie.
func (a SessionAffinity) CookieSessionAffinity() CookieSessionAffinity {
	return CookieSessionAffinity{Cookie: a.Cookie, Secure: a.Cookie.Secure != nil && *a.Cookie.Secure, Locations: a.Locations}
}

// CookieSessionAffinity contains the attributes of the affinity cookie and where it is set.
type CookieSessionAffinity struct {
	annotations.Cookie
	Secure    bool
	Locations map[string][]string // maps hosts to paths
}
