package health

import (
	"net"
	"net/http"
)

// inside refuses (403) requests that nginx proxies to our loopback addresses. nginx resolves the
// names in auth-url and mirror-target itself, so they could lead here. inside ignores requests to
// other addresses, such as requests for metrics through a Service that selects our pod. It
// recognises proxied requests by X-Sent-From, which nginx sets in the locations of auth-url and
// mirror-target, and X-Real-IP, which it sets in all others. X-Forwarded-For proves nothing: other
// proxies in the pod (kube-rbac-proxy) set it, too.
func inside(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		passedOn := r.Header.Values("X-Sent-From") != nil || r.Header.Values("X-Real-Ip") != nil
		if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() && passedOn {
			http.Error(w, "not for requests that nginx proxies", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
