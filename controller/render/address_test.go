package render_test

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/internal/nginxtest"
)

// Tests the address and port that pods receive and allow lists check, for combinations of the PROXY
// protocol and client headers.
func TestClientAddress(t *testing.T) {
	t.Parallel()
	const (
		trusted   = "PROXY TCP4 10.0.0.7 192.0.2.1 5 443\r\n" // a trusted proxy, in proxy-real-ip-cidr
		untrusted = "PROXY TCP4 203.0.113.9 192.0.2.1 5 8443\r\n"
		unknown   = "PROXY UNKNOWN\r\n"
	)
	both := map[string]string{"use-proxy-protocol": "true", "use-forwarded-headers": "true", "proxy-real-ip-cidr": "127.0.0.1,10.0.0.0/8", "compute-full-forwarded-for": "true"}
	onlyProxy := map[string]string{"use-proxy-protocol": "true", "proxy-real-ip-cidr": "127.0.0.1,10.0.0.0/8"}
	onlyHeaders := map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "127.0.0.1,10.0.0.0/8", "compute-full-forwarded-for": "true"}
	for name, mode := range map[string]struct {
		config map[string]string
		asks   []ask
	}{
		"both": {both, []ask{
			{trusted, "198.51.100.4", "", "198.51.100.4", "198.51.100.4, 10.0.0.7", "443", true},
			{trusted, "198.51.100.4, 198.51.100.5, 10.0.0.8", "", "198.51.100.5", "198.51.100.4, 198.51.100.5, 10.0.0.8, 10.0.0.7", "443", false},
			{trusted, "", "", "10.0.0.7", "10.0.0.7", "443", false},
			{trusted, "198.51.100.4", "8080", "198.51.100.4", "198.51.100.4, 10.0.0.7", "8080", true},
			{trusted, "no address", "", "10.0.0.7", "no address, 10.0.0.7", "443", false},
			{untrusted, "198.51.100.4", "", "203.0.113.9", "198.51.100.4, 203.0.113.9", "8443", false},
			{unknown, "", "", "127.0.0.1", "127.0.0.1", "{http}", false},
		}},
		"the PROXY protocol alone": {onlyProxy, []ask{
			{trusted, "198.51.100.4", "9", "10.0.0.7", "10.0.0.7", "443", false},
			{untrusted, "198.51.100.4", "", "203.0.113.9", "203.0.113.9", "8443", false},
		}},
		"headers alone": {onlyHeaders, []ask{
			{"", "198.51.100.4", "", "198.51.100.4", "198.51.100.4, 127.0.0.1", "{http}", true},
			{"", "203.0.113.9, 198.51.100.4, 10.0.0.7", "81", "198.51.100.4", "203.0.113.9, 198.51.100.4, 10.0.0.7, 127.0.0.1", "81", true},
		}},
		"neither": {nil, []ask{{"", "198.51.100.4", "81", "127.0.0.1", "127.0.0.1", "{http}", false}}},
	} {
		t.Run(name, func(t *testing.T) {
			in, program := here(t, mode.config)
			m := hosts(in, pod(t, tellsAddress), map[string]func(*model.Location){
				"inside.example": func(l *model.Location) { l.Allowlist.CIDR = []string{"198.51.100.4"} },
				"limited.example": func(l *model.Location) {
					l.RateLimit = annotations.RateLimit{ID: "bGlt", Name: "demo_web", RPM: annotations.Zone{Name: "z_rpm", Limit: 1, SharedSize: 1}}
				},
			})
			s := serve(t, m, in, program)
			for _, ask := range mode.asks {
				ask.check(t, s)
			}
			if !strings.HasPrefix(name, "both") {
				return
			}
			// Rate limits count by the same address.
			s.preface = trusted
			var statuses []int
			for _, client := range []string{"198.51.100.4", "198.51.100.5", "198.51.100.4"} {
				statuses = append(statuses, s.ask("limited.example", "/", with("X-Forwarded-For", client)).Status)
			}
			if fmt.Sprint(statuses) != "[200 200 503]" {
				t.Errorf("two clients with a limit of one request per minute: %v", statuses)
			}
			// Clients must not be able to send the header that Lua sends to nginx.
			s.preface = untrusted
			if got := s.ask("inside.example", "/", with("X-Forwarded-For-Proxy-Protocol-Chain", "198.51.100.4")); got.Status != http.StatusBadRequest {
				t.Errorf("with the internal header: %d %q", got.Status, got.Body)
			}
		})
	}
}

// ask describes a request over a connection that begins with a preface, and what pods receive:
// address, X-Forwarded-For and port.
type ask struct {
	preface, forwardedFor, forwardedPort string
	address, full, port                  string
	allowed                              bool // whether an allow list with 198.51.100.4 admits it
}

func (a ask) check(t *testing.T, s *site) {
	t.Helper()
	s.preface = a.preface
	headers := func(r *http.Request) {
		for name, value := range map[string]string{"X-Forwarded-For": a.forwardedFor, "X-Forwarded-Port": a.forwardedPort} {
			if value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	port := strings.ReplaceAll(a.port, "{http}", fmt.Sprint(s.HTTP))
	if got, want := s.ask("known.example", "/", headers).Body, fmt.Sprintf("%s|%s|%s|", a.address, a.full, port); got != want {
		t.Errorf("%+v: pods get %q, want %q", a, got, want)
	}
	if got := s.ask("inside.example", "/", headers).Status; (got == 200) != a.allowed {
		t.Errorf("%+v: the allow list says %d", a, got)
	}
}

// tellsAddress is a handler that responds with the client's address as the pod receives it.
func tellsAddress(w http.ResponseWriter, r *http.Request) {
	chain := r.Header.Values("X-Forwarded-For-Proxy-Protocol-Chain")
	fmt.Fprintf(w, "%s|%s|%s|%s", r.Header.Get("X-Real-Ip"), r.Header.Get("X-Forwarded-For"), r.Header.Get("X-Forwarded-Port"), strings.Join(chain, ","))
}

// With TLS passthrough the controller sends the client's address to nginx, regardless of other
// trusted sources. nginx's own port differs from the one that clients use.
func TestClientAddressWithPassthrough(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]struct {
		config  map[string]string
		preface string
		header  string
		want    string
	}{
		"alone":                              {nil, "PROXY TCP4 203.0.113.9 192.0.2.1 5 9443\r\n", "198.51.100.4", "203.0.113.9|203.0.113.9|443|"},
		"with forwarded headers":             {map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, "PROXY TCP4 10.0.0.7 192.0.2.1 5 9443\r\n", "198.51.100.4", "198.51.100.4|198.51.100.4|443|"},
		"with headers of somebody":           {map[string]string{"use-forwarded-headers": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, "PROXY TCP4 203.0.113.9 192.0.2.1 5 9443\r\n", "198.51.100.4", "203.0.113.9|203.0.113.9|443|"},
		"with the PROXY protocol":            {map[string]string{"use-proxy-protocol": "true", "proxy-real-ip-cidr": "10.0.0.0/8"}, "PROXY TCP4 203.0.113.9 192.0.2.1 5 443\r\n", "198.51.100.4", "203.0.113.9|203.0.113.9|443|"},
		"with the PROXY protocol, to a port": {map[string]string{"use-proxy-protocol": "true"}, "PROXY TCP4 203.0.113.9 192.0.2.1 5 8443\r\n", "", "203.0.113.9|203.0.113.9|8443|"},
	} {
		t.Run(name, func(t *testing.T) {
			in, program := here(t, mode.config)
			free := nginxtest.FreePorts(t, 1)
			in.Options.EnableSSLPassthrough, in.Options.Ports.SSLProxy = true, free
			furnish(t, in)
			m := hosts(in, pod(t, tellsAddress), nil)
			m.RedirectServers = []model.Redirect{{From: "www.known.example", To: "known.example"}}
			s := serve(t, m, in, program)
			s.preface = mode.preface
			transport := &http.Transport{DisableKeepAlives: true, DialContext: s.dial, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // the fake certificate
			get := func(host, path string) *http.Response {
				request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d%s", free, path), nil)
				if err != nil {
					t.Fatal(err)
				}
				request.Host = host
				request.Header.Set("X-Forwarded-For", mode.header)
				response, err := transport.RoundTrip(request)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { response.Body.Close() })
				return response
			}
			body, err := io.ReadAll(get("known.example", "/").Body)
			if err != nil || string(body) != mode.want {
				t.Errorf("pods get %q (%v), want %q", body, err, mode.want)
			}
			if status := get("else.example", "/nginx_status").StatusCode; status != http.StatusForbidden {
				t.Errorf("the catch-all host's status page: %d", status)
			}
			to := get("www.known.example", "/x").Header.Get("Location")
			if want := "https://known.example:" + strings.Split(mode.want, "|")[2] + "/x"; to != want {
				t.Errorf("from www to %s, want %s", to, want)
			}
		})
	}
}
