package ask

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/behave"
)

// pair makes a certificate usable, with the certificates of its authorities after it.
func pair(t *testing.T, p pki.Pair, chain ...*pki.Authority) tls.Certificate {
	t.Helper()
	for _, a := range chain {
		p.Certificate = append(p.Certificate, a.PEM...)
	}
	c, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// secure serves HTTP/1 and HTTP/2 over TLS; the body of an answer has the server name, the subject
// of the client's certificate and the number of its certificates.
func secure(t *testing.T, config *tls.Config) Target {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		client := "nobody"
		if len(r.TLS.PeerCertificates) > 0 {
			client = r.TLS.PeerCertificates[0].Subject.CommonName
		}
		fmt.Fprintf(w, "%s %q %s", r.Proto, r.TLS.ServerName, client)
	}))
	s.EnableHTTP2 = true
	if config.NextProtos == nil {
		config.NextProtos = []string{"h2", "http/1.1"}
	}
	s.TLS = config
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return Target{HTTPS: s.Listener.Addr().(*net.TCPAddr).AddrPort()}
}

func TestSessions(t *testing.T) {
	root := pki.New("root")
	intermediate := root.Authority("intermediate")
	clients := pki.New("clients")
	leaf := pair(t, intermediate.Issue("web", []string{"a.example"}), intermediate)
	roots := x509.NewCertPool()
	roots.AddCert(clients.Certificate)
	open := func(change func(*tls.Config)) Target {
		config := &tls.Config{Certificates: []tls.Certificate{leaf}, MinVersion: tls.VersionTLS10}
		if change != nil {
			change(config)
		}
		to := secure(t, config)
		to.Certificates = map[string]tls.Certificate{
			"me": pair(t, clients.Issue("me", nil)), "stranger": pair(t, pki.New("others").Issue("stranger", nil)),
		}
		return to
	}
	plain := open(nil)
	asks := open(func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequestClientCert, roots })
	demands := open(func(c *tls.Config) { c.ClientAuth, c.ClientCAs = tls.RequireAndVerifyClientCert, roots })
	old := open(func(c *tls.Config) { c.MaxVersion = tls.VersionTLS12 })
	one1 := open(func(c *tls.Config) { c.NextProtos = []string{"http/1.1"} })
	const get = "GET https://a.example:8443/"
	const suite = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"
	for name, c := range map[string]struct {
		to       Target
		request  behave.Request
		body     string // or the failure
		version  string
		protocol string
		cipher   string // "" is not compared
	}{
		"defaults":                  {plain, behave.Request{Request: get}, `HTTP/1.1 "a.example" nobody`, "1.3", "http/1.1", ""},
		"HTTP/1.0":                  {plain, behave.Request{Request: get, HTTP: "1.0"}, `HTTP/1.0 "a.example" nobody`, "1.3", "", ""},
		"HTTP/2":                    {plain, behave.Request{Request: get, HTTP: "2"}, `HTTP/2.0 "a.example" nobody`, "1.3", "h2", ""},
		"HTTP/2 is not offered":     {one1, behave.Request{Request: get, HTTP: "2"}, `HTTP/1.1 "a.example" nobody`, "1.3", "http/1.1", ""},
		"another name":              {plain, behave.Request{Request: get, TLS: behave.ClientTLS{SNI: "b.example"}}, `HTTP/1.1 "b.example" nobody`, "1.3", "http/1.1", ""},
		"no name":                   {plain, behave.Request{Request: get, TLS: behave.ClientTLS{SNI: "-"}}, `HTTP/1.1 "" nobody`, "1.3", "http/1.1", ""},
		"an address":                {plain, behave.Request{Request: "GET https://192.0.2.1/"}, `HTTP/1.1 "" nobody`, "1.3", "http/1.1", ""},
		"at most 1.2":               {plain, behave.Request{Request: get, TLS: behave.ClientTLS{Max: "1.2"}}, `HTTP/1.1 "a.example" nobody`, "1.2", "http/1.1", ""},
		"at most 1.1":               {plain, behave.Request{Request: get, TLS: behave.ClientTLS{Max: "1.1"}}, `HTTP/1.1 "a.example" nobody`, "1.1", "http/1.1", ""},
		"1.0":                       {plain, behave.Request{Request: get, TLS: behave.ClientTLS{Min: "1.0", Max: "1.0"}}, `HTTP/1.1 "a.example" nobody`, "1.0", "http/1.1", ""},
		"a version too new":         {old, behave.Request{Request: get, TLS: behave.ClientTLS{Min: "1.3"}}, tlsFail, "", "", ""},
		"a cipher suite":            {plain, behave.Request{Request: get, TLS: behave.ClientTLS{Max: "1.2", Ciphers: []string{suite}}}, `HTTP/1.1 "a.example" nobody`, "1.2", "http/1.1", suite},
		"a certificate, not asked":  {plain, behave.Request{Request: get, TLS: behave.ClientTLS{Certificate: "me"}}, `HTTP/1.1 "a.example" nobody`, "1.3", "http/1.1", ""},
		"a certificate":             {demands, behave.Request{Request: get, TLS: behave.ClientTLS{Certificate: "me"}}, `HTTP/1.1 "a.example" me`, "1.3", "http/1.1", ""},
		"a certificate, HTTP/2":     {demands, behave.Request{Request: get, HTTP: "2", TLS: behave.ClientTLS{Certificate: "me"}}, `HTTP/2.0 "a.example" me`, "1.3", "h2", ""},
		"a stranger's certificate":  {asks, behave.Request{Request: get, TLS: behave.ClientTLS{Certificate: "stranger"}}, `HTTP/1.1 "a.example" stranger`, "1.3", "http/1.1", ""},
		"a stranger is refused":     {demands, behave.Request{Request: get, TLS: behave.ClientTLS{Certificate: "stranger"}}, tlsFail, "1.3", "http/1.1", ""},
		"a stranger is refused, h2": {demands, behave.Request{Request: get, HTTP: "2", TLS: behave.ClientTLS{Certificate: "stranger"}}, tlsFail, "1.3", "h2", ""},
		"nobody is refused":         {demands, behave.Request{Request: get, TLS: behave.ClientTLS{Max: "1.2"}}, tlsFail, "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := one(t, c.to, c.request)
			if c.body == tlsFail {
				if e.Failure != tlsFail {
					t.Errorf("%s", show(e))
				}
			} else if string(e.Body) != c.body {
				t.Errorf("%s: %s, want %s", show(e), e.Body, c.body)
			}
			if c.version == "" {
				if e.TLS != nil {
					t.Errorf("a session without a handshake: %+v", e.TLS)
				}
				return
			}
			if e.TLS == nil {
				t.Fatal("no session")
			}
			want := behave.Session{Version: c.version, Protocol: c.protocol, Certificate: "CN=web", Chain: 2, Cipher: c.cipher, OCSP: "none"}
			got := *e.TLS
			if got.Curve == "" {
				t.Error("no curve")
			}
			got.Curve = ""
			if c.cipher == "" {
				got.Cipher = ""
			}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}

	plain.NameOf = func(leaf *x509.Certificate) string { return map[string]string{"web": "shop"}[leaf.Subject.CommonName] }
	if e := one(t, plain, behave.Request{Request: get}); e.TLS == nil || e.TLS.Certificate != "shop" {
		t.Errorf("%+v", e.TLS)
	}
}

// A session can be resumed by the later requests of a step, not by those of another step.
func TestResumption(t *testing.T) {
	config := &tls.Config{Certificates: []tls.Certificate{pair(t, pki.New("root").Issue("web", nil))}}
	with := secure(t, config)
	without := config.Clone()
	without.SessionTicketsDisabled = true
	never := secure(t, without)
	for _, sni := range []string{"", "-"} {
		for _, most := range []string{"1.2", "1.3"} {
			twice := behave.Request{Request: "GET https://a.example/", Times: 2, TLS: behave.ClientTLS{Max: most, SNI: sni}}
			for range 2 {
				if all := several(t, with, twice); all[0].TLS.Resumed || !all[1].TLS.Resumed {
					t.Errorf("TLS %s: %+v, %+v", most, all[0].TLS, all[1].TLS)
				}
			}
			if all := several(t, never, twice); all[0].TLS.Resumed || all[1].TLS.Resumed {
				t.Errorf("TLS %s: resumed without tickets", most)
			}
		}
	}
}

// slowTLS answers a request after a handshake that takes some time.
func slowTLS(t *testing.T, wait time.Duration) Target {
	config := &tls.Config{Certificates: []tls.Certificate{pair(t, pki.New("root").Issue("web", nil))}}
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		<-time.After(wait)
		return nil, nil
	}
	var to netip.AddrPort = serve(t, anyPort, func(c net.Conn) {
		s := tls.Server(c, config)
		if s.Handshake() != nil {
			return
		}
		io.ReadFull(s, make([]byte, 10))
		io.WriteString(s, ok)
		io.ReadAll(s)
	})
	return Target{HTTPS: to}
}

func TestStapledStatus(t *testing.T) {
	for text, want := range map[string]string{"": "none", "no response": "unknown"} {
		if got := stapled([]byte(text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
