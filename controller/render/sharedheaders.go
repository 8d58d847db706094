package render

import "windtunnel.dev/controller/annotations"

// nginx takes the request headers of a location (proxy_set_header) from the block around it, unless the
// location sets any of its own (ngx_http_proxy_module). Each list has a hash table of its own, in each
// process. Most locations have the same list, so the http block has it for all of them.

// SharesHeaders reports whether the http block sets request headers. It does not if a snippet can add servers
// or locations, which would inherit the headers, or headers to all locations, which then inherit none.
func (r *root) SharesHeaders() bool {
	return r.Cfg.HTTPSnippet == "" && r.Cfg.ServerSnippet == "" && r.Cfg.LocationSnippet == ""
}

// SharedHeaders returns the dot of the request headers that the http block sets: those of a location without
// annotations.
func (r *root) SharedHeaders() proxied {
	return proxied{audience: audience{All: r, SetHeader: "proxy_set_header"}, Module: "proxy"}
}

// inheritsHeaders reports whether the request headers of the http block are all that the location
// needs. It must not set any of its own then; authentication, a rewritten path and snippets do.
func (l *located) inheritsHeaders() bool {
	if l.Login != nil || l.ExternalAuth != nil || l.Location.XForwardedPrefix != "" ||
		l.Location.ConfigurationSnippet != "" || l.Server.ServerSnippet != "" {
		return false
	}
	needs := l.Proxied
	needs.Proxy = annotations.Proxy{} // no headers
	return needs == l.All.SharedHeaders() && l.All.SharesHeaders()
}
