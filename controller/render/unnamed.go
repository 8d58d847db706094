package render

import (
	"slices"
	"sync"

	"windtunnel.dev/controller/model"
)

// unnamedLocation is a location with placeholders for its names; see outline.
type unnamedLocation struct {
	located
	location model.Location // that of located
}

var unnamedLocations = sync.Pool{New: func() any { return new(unnamedLocation) }}

// set copies a location without its names.
func (u *unnamedLocation) set(l *located) {
	u.located = *l
	u.location = model.Location{Location: l.Location.Location, ProxySSL: l.Location.ProxySSL}
	password := &u.location.BasicDigestAuth
	password.Secret, password.File, password.FileSHA = "", "", ""
	u.Server, u.Location = nil, &u.location
	if u.Login != nil {
		u.Login = password
	}
	hide(u.names())
}

// names returns pointers to the fields that are names.
func (l *located) names() []*string {
	is, auth := &l.Identity, &l.AuthNames
	return []*string{
		&is.Selector, &is.Namespace, &is.Ingress, &is.Service, &is.ServicePort, &is.Path, &is.Upstream, &is.Redirects, &is.PasswordFile,
		&auth.Location, &auth.Upstream, &auth.Target, &auth.CacheKey, &auth.Signin, &l.Pass,
	}
}

// unnamedServer is a server with placeholders for its names and its locations; see outline.
type unnamedServer struct {
	served
	server model.Server // that of served
}

var unnamedServers = sync.Pool{New: func() any { return new(unnamedServer) }}

// part is the output of a template for some locations of a server.
type part struct {
	file string
	of   func(*served) *[]*located
}

// parts are the parts of a server. Name firstPart+i stands for part i.
var parts = []part{
	{locationFile, func(s *served) *[]*located { return &s.Locations }},
	{authFile, func(s *served) *[]*located { return &s.Auths }},
	{signinFile, func(s *served) *[]*located { return &s.Signins }},
}

const firstPart = 2

// partOf returns the name that stands for the output of a file, and whether the file writes a part.
func partOf(file string) (name int, ok bool) {
	i := slices.IndexFunc(parts, func(p part) bool { return p.file == file })
	return firstPart + i, i >= 0
}

// anyLocations stands for the locations of a part.
var anyLocations = []*located{new(located)}

// set copies a server without its names and locations. It returns false if other servers with equal
// settings are unlikely, or if the template may process names instead of just writing them.
func (u *unnamedServer) set(s *served) bool {
	if s.IsDefault || len(s.Locations) == 0 || len(s.Mirrors)+len(s.Errors) > 0 {
		return false
	}
	u.served, u.server = *s, *s.Second
	u.server.SSLCert = nil // sent to Lua, not written
	u.server.Locations = nil
	for _, part := range parts {
		if some := part.of(&u.served); len(*some) > 0 {
			*some = anyLocations
		}
	}
	u.Second = &u.server
	hide(u.names())
	return true
}

// names returns pointers to the firstPart fields that are names.
func (s *served) names() []*string { return []*string{&s.Name, &s.Second.Hostname} }

// hide replaces names by placeholders. Empty names stay empty.
func hide(names []*string) {
	for i, name := range names {
		if *name != "" {
			*name = placeholder(i)
		}
	}
}
