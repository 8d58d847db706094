package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard accepts requests from the page itself, and from users who were given its URL. It refuses
// requests of other sites: a browser sends the site's name as Origin or, if the site's name
// resolves to this machine (DNS rebinding), as Host.
func (s *Server) guard(next http.Handler) http.Handler {
	crossOrigin := http.NewCrossOriginProtection() // of requests that change something
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Referrer-Policy", "same-origin") // the URL is a secret
		header.Set("X-Content-Type-Options", "nosniff")
		switch origin := r.Header.Get("Origin"); {
		case !isLoopback(hostOf(r.Host)):
			http.Error(w, "this server has no such host", http.StatusMisdirectedRequest)
		case origin != "" && origin != "http://"+r.Host, crossOrigin.Check(r) != nil:
			http.Error(w, "the request comes from another site", http.StatusForbidden)
		case subtle.ConstantTimeCompare([]byte(tokenOf(r.URL.Path)), []byte(s.token)) != 1:
			http.Error(w, "use the complete URL that windtunnel printed", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// tokenOf returns the first part of a path.
func tokenOf(path string) string {
	token, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return token
}

// hostOf returns a host without its port.
func hostOf(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return strings.Trim(host, "[]")
}

// isLoopback reports whether a host is localhost or an address of loopback. Other names are not
// resolved, because their owners choose what they resolve to.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}
