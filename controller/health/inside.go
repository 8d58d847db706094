package health

import (
	"net"
	"net/http"
)

// inside refuses (403) what nginx passes on to our loopback addresses: neither an
// auth-url nor a mirror-target, whose names nginx itself looks up, may lead here.
// A request at another address, such as one for the metrics through a Service
// that selects our pod, is none of its business. X-Sent-From is set in those
// locations and X-Real-IP in all others; X-Forwarded-For, which proxies beside
// us in the pod set, too (kube-rbac-proxy), says nothing.
func inside(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.RemoteAddr)
		passedOn := r.Header.Values("X-Sent-From") != nil || r.Header.Values("X-Real-Ip") != nil
		if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() && passedOn {
			http.Error(w, "not for requests that nginx passes on", http.StatusForbidden)
			return
		}
		handler.ServeHTTP(w, r)
	})
}
