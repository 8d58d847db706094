package traffic

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/netip"
	"testing"

	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// entrance returns the address at which a lane's clients reach a pod: a TLS proxy in place of nginx
// if the lane speaks TLS.
func entrance(t *testing.T, lane string, p backend.Pod) netip.AddrPort {
	t.Helper()
	switch ListenerOf(lane) {
	case TLS:
		pair := pki.New("nobody").Issue("all", []string{"*.example"})
		return unwrap(t, secured(t, pair), p.Addr())
	case TCP, UDP:
		return p.StreamAddr()
	}
	return p.Addr()
}

func secured(t *testing.T, pair pki.Pair) *tls.Config {
	t.Helper()
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"h2", "http/1.1"}}
}

// unwrap starts a proxy that terminates TLS.
func unwrap(t *testing.T, config *tls.Config, to netip.AddrPort) netip.AddrPort {
	t.Helper()
	l, err := tls.Listen("tcp4", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			from, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer from.Close()
				on, err := net.Dial("tcp", to.String())
				if err != nil {
					return
				}
				defer on.Close()
				go func() {
					defer on.Close()
					io.Copy(on, from)
				}()
				io.Copy(from, on)
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).AddrPort()
}

// Each cause of failed handshakes, on a real socket.
func TestFailedHandshakes(t *testing.T) {
	for name, test := range map[string]struct {
		script func(*peer)
		want   event.Cause
	}{
		"FIN": {func(p *peer) { p.reader.Peek(1); p.CloseWrite(); p.untilClosed() }, event.EOF},
		"RST": {func(p *peer) { p.reader.Peek(1); p.reset() }, event.Reset},
		"not TLS": {func(p *peer) {
			p.reader.Peek(1)
			io.WriteString(p, "HTTP/1.1 400 Bad Request\r\n\r\n")
			p.untilClosed()
		}, event.Handshake},
		"alert": {func(p *peer) {
			// nginx's ssl_reject_handshake: a fatal alert, unrecognized_name (RFC 8446, section 6).
			p.reader.Peek(1)
			p.Write([]byte{21, 3, 3, 0, 2, 2, 112})
			p.untilClosed()
		}, event.Handshake},
		"no certificate": {func(p *peer) {
			config := secured(t, pki.New("nobody").Issue("all", []string{"*.example"}))
			config.Certificates[0].Certificate = [][]byte{[]byte("certificate")}
			tls.Server(p, config).Handshake()
		}, event.Handshake},
	} {
		t.Run(name, func(t *testing.T) {
			r := newClient(t, "tls", serve(t, test.script).address).fire()
			if r.Cause != test.want || r.Detail == "" || r.Serial != "" {
				t.Errorf("cause %q (%s), serial %q; want %q", r.Cause, r.Detail, r.Serial, test.want)
			}
		})
	}
}

// The log has the serial number of the certificate of each full handshake. A certificate for
// another host is a failure, whoever answers.
func TestCertificateIsRecorded(t *testing.T) {
	p := pod(t, "127.206.0.0/24", "demo/web-1", "demo/web")
	authority := pki.New("nobody")
	var shown, other tls.Certificate
	serials := map[string]string{}
	for to, hosts := range map[*tls.Certificate][]string{&shown: {"web.example"}, &other: {"api.example"}} {
		*to = secured(t, authority.Issue(hosts[0], hosts)).Certificates[0]
		parsed, err := x509.ParseCertificate(to.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		serials[hosts[0]] = parsed.SerialNumber.Text(16)
	}
	handshakes := make(chan string, 10)
	config := &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		handshakes <- hello.ServerName
		if len(handshakes) == 3 {
			return &other, nil
		}
		return &shown, nil
	}}
	c := newClient(t, "tls", unwrap(t, config, p.Addr()))
	for range 2 {
		if r := c.fire(); r.Cause != "" || r.Serial != serials["web.example"] || r.Pod != "demo/web-1" || r.Reused {
			t.Errorf("got %+v", r)
		}
	}
	if r := c.fire(); r.Cause != event.WrongCert || r.Serial != serials["api.example"] {
		t.Errorf("got %+v", r)
	}
	for range 3 {
		if got := <-handshakes; got != "web.example" {
			t.Errorf("SNI %q", got)
		}
	}
}

// Every lane that speaks HTTP can ask for a target over TLS: with its host as SNI, over connections that
// are kept as without TLS, and with the certificate in the log.
func TestTargetsOverTLS(t *testing.T) {
	p := pod(t, "127.207.0.0/24", "demo/web-1", "demo/web")
	pair := pki.New("nobody").Issue("web", []string{"web.example"})
	for _, name := range Lanes() {
		if l, _ := find(name); l.http == nil || l.listener != HTTP {
			continue
		}
		t.Run(name, func(t *testing.T) {
			config := secured(t, pair)
			config.NextProtos = nil
			names := make(chan string, 10)
			config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
				names <- hello.ServerName
				return nil, nil
			}
			c := newClient(t, name, netip.MustParseAddrPort("127.0.0.1:1"))
			c.dialer.tls = unwrap(t, config, p.Addr())
			for n := range 2 {
				r := c.fire()
				kept := n == 1 && (name == "http" || name == "post")
				if r.Cause != "" || r.Pod != "demo/web-1" || r.Serial == "" || kept && !r.Reused {
					t.Errorf("got %+v", r)
				}
			}
			if got := <-names; got != "web.example" {
				t.Errorf("SNI %q", got)
			}
		})
	}
}
