package render_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/internal/pki"
)

// The authentication service, and every other service that receives a request, gets the client
// certificate that nginx verified.
func TestClientCertificateHeadersComeFromNginx(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"use-http2": "false"})
	authority := pki.New("clients")
	put(t, in, "/etc/ingress-controller/ssl/ca.pem", authority.PEM)
	heard := make(chan http.Header, 10)
	service := pod(t, func(_ http.ResponseWriter, r *http.Request) { heard <- r.Header })
	auth := annotations.ExternalAuth{URL: "http://" + service.HostPort() + "/check", Host: "auth.example"}
	kept := auth
	kept.KeepaliveConnections, kept.KeepaliveRequests, kept.KeepaliveTimeout = 2, 100, 10
	m := hosts(in, pod(t, told), map[string]func(*model.Location){
		"asked.example":   func(l *model.Location) { l.ExternalAuth = auth },
		"kept.example":    func(l *model.Location) { l.ExternalAuth = kept },
		"passed.example":  func(l *model.Location) { l.ExternalAuth = auth },
		"unasked.example": func(l *model.Location) { l.ExternalAuth = auth },
		"mirrored.example": func(l *model.Location) {
			l.Mirror = annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://" + service.HostPort() + "/", Host: "copy"}
		},
	})
	for _, server := range m.Servers {
		if server.Hostname != "unasked.example" && server.Hostname != model.DefaultServerName {
			server.CertificateAuth = model.CertificateAuth{CAFileName: in.Options.Path("/etc/ingress-controller/ssl/ca.pem"), VerifyClient: "optional", ValidationDepth: 1, PassCertToUpstream: server.Hostname == "passed.example"}
		}
	}
	s := serve(t, m, in, program)
	alice := authority.Issue("alice", nil)
	certificate, err := tls.X509KeyPair(alice.Certificate, alice.Key)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		host                    string
		shows                   bool
		verify, subject, issuer string
		certificate             bool
	}{
		{"asked.example", true, "SUCCESS", "CN=alice", "CN=clients", false},
		{"asked.example", false, "NONE", "", "", false},
		{"kept.example", true, "SUCCESS", "CN=alice", "CN=clients", false},
		{"kept.example", false, "NONE", "", "", false},
		{"passed.example", true, "SUCCESS", "CN=alice", "CN=clients", true},
		{"mirrored.example", true, "SUCCESS", "CN=alice", "CN=clients", false},
		{"mirrored.example", false, "NONE", "", "", false},
		{"unasked.example", false, "lie", "lie", "lie", false}, // nginx verifies nothing, but a proxy in front of it may
	} {
		t.Run(fmt.Sprint(test.host, " ", test.shows), func(t *testing.T) {
			config := &tls.Config{ServerName: test.host, InsecureSkipVerify: true} //nolint:gosec // the fake certificate
			if test.shows {
				config.Certificates = []tls.Certificate{certificate}
			}
			transport := &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprintf("https://127.0.0.1:%d/", s.HTTPS), nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = test.host
			for _, name := range []string{"ssl-client-verify", "ssl-client-subject-dn", "ssl-client-issuer-dn", "ssl-client-cert"} {
				request.Header.Set(name, "lie")
			}
			response, err := transport.RoundTrip(request)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			got := next(t, heard)
			if got.Get("Ssl-Client-Verify") != test.verify || got.Get("Ssl-Client-Subject-Dn") != test.subject || got.Get("Ssl-Client-Issuer-Dn") != test.issuer {
				t.Errorf("got %v", got)
			}
			shown, _ := url.QueryUnescape(got.Get("Ssl-Client-Cert"))
			if test.certificate != strings.HasPrefix(shown, "-----BEGIN CERTIFICATE-----") || test.host != "unasked.example" && shown == "lie" {
				t.Errorf("the certificate arrives as %q", got.Get("Ssl-Client-Cert"))
			}
		})
	}
}
