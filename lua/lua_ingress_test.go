package lua_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

func TestRedirectToHTTPS(t *testing.T) {
	s := start(t, setup{Workers: 1})
	w := s.serve(backend{Name: "shop", Endpoints: pods(t, 1)})[0]
	for _, c := range []struct{ name, path, location, header string }{
		{"disabled", "/", "", ""},
		{"no certificate for the host", "/", "", "Host:shop.example"},
		{"forced", "/a?b=1", "https://shop.example/a?b=1", "X-Force-Ssl-Redirect:true"},
		{"the port of the host is removed", "/a", "https://shop.example/a", "X-Force-Ssl-Redirect:true Host:shop.example:8080"},
		{"an IPv6 address is kept", "/a", "https://[::1]/a", "X-Force-Ssl-Redirect:true Host:[::1]:80"},
		{"a trailing slash is removed", "/a/", "https://shop.example/a", "X-Force-Ssl-Redirect:true"},
		{"a trailing slash is preserved", "/a/", "https://shop.example/a/", "X-Force-Ssl-Redirect:true X-Preserve-Trailing-Slash:true"},
		{"with port", "/a", "https://shop.example:8443/a", "X-Force-Ssl-Redirect:true X-Use-Port-In-Redirects:true"},
		{"forbidden", "/a", "", "X-Force-Ssl-Redirect:true X-Force-No-Ssl-Redirect:true"},
		{"before the check for endpoints", "/a", "https://shop.example/a", "X-Force-Ssl-Redirect:true X-Upstream:none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			header := []string{"X-Upstream", "shop", "Host", "shop.example"}
			for _, field := range strings.Fields(c.header) {
				name, value, _ := strings.Cut(field, ":")
				header = append(header, name, value)
			}
			got := w.getPath(c.path, header...)
			status := http.StatusOK
			if c.location != "" {
				status = http.StatusPermanentRedirect
			}
			if location := got.header.Get("Location"); got.status != status || location != c.location {
				t.Errorf("got %d %q, want %d %q", got.status, location, status, c.location)
			}
		})
	}
}

func TestForwardedHeadersAreTrustedOnlyIfConfigured(t *testing.T) {
	for _, believe := range []bool{false, true} {
		t.Run(fmt.Sprint(believe), func(t *testing.T) {
			s := start(t, setup{Workers: 1, Config: map[string]any{"use_forwarded_headers": believe}})
			w := s.serve(backend{Name: "shop", Endpoints: pods(t, 1)})[0]
			got := w.get("X-Upstream", "shop", "Host", "shop.example", "X-Forwarded-Proto", "https",
				"X-Forwarded-Port", "8443", "X-Forwarded-Host", "first.example , second.example")
			_, port, _ := net.SplitHostPort(s.HTTP)
			want := "Host shop.example\nPort " + port + "\nProto http\n"
			if believe {
				want = "Host first.example\nPort 443\nProto https\n" // 8443 is nginx's https port
			}
			if got.body != want {
				t.Errorf("the pod got %q, want %q", got.body, want)
			}
		})
	}
}

func TestHSTSIsForHTTPS(t *testing.T) {
	https, pair := nginxtest.FreeAddress(t), certificate(t)
	s := start(t, setup{Workers: 1, Server: "listen " + https + " ssl;\nssl_certificate " + pair + ";\nssl_certificate_key " + pair + ";"})
	w := s.serve(backend{Name: "shop", Endpoints: pods(t, 1)})[0]
	if got := w.get("X-Upstream", "shop").header.Get("Strict-Transport-Security"); got != "" {
		t.Errorf("a response over http has HSTS %q", got)
	}

	// Send a request to the pod through nginx, over TLS.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+https, nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Upstream", "shop")
	answer := do(t, &http.Client{Transport: transport}, request)
	if got := answer.header.Get("Strict-Transport-Security"); got != "max-age=31536000; includeSubDomains" {
		t.Errorf("HSTS %q", got)
	}
	if !strings.Contains(answer.body, "Proto https\n") {
		t.Errorf("the pod got %q", answer.body)
	}
}

// certificate writes a certificate and its key to a file.
func certificate(t *testing.T) string {
	t.Helper()
	server := httptest.NewTLSServer(nil) // for its certificate
	server.Close()
	pair := server.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})...)
	path := nginxtest.Folder(t) + "/pair.pem"
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
