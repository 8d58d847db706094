package lua_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"windtunnel.dev/internal/nginxtest"
)

// makeCertificate returns a certificate and its key as PEM. Tests identify it by its serial number.
func makeCertificate(t *testing.T, serial int64, names ...string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, DNSNames: names,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})) +
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
}

// startTLS calls start with an HTTPS server that gets its certificates from Lua. It also returns
// the address of that server.
func startTLS(t *testing.T, with setup) (s *site, https string) {
	t.Helper()
	https = nginxtest.FreeAddress(t)
	pair := certificate(t)
	with.Server += "listen " + https + " ssl;\nssl_certificate " + pair + ";\nssl_certificate_key " + pair + ";\n" +
		"ssl_certificate_by_lua_block { certificate.call() }\n"
	return start(t, with), https
}

// postServers POSTs certificates by id, and ids by host.
func (s *site) postServers(certificates, servers map[string]string) (status int, text string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]any{"certificates": certificates, "servers": servers})
	if err != nil {
		s.t.Fatal(err)
	}
	return s.call(http.MethodPost, "/configuration/servers", string(body))
}

// serial returns the serial number of the certificate that a client gets for a host; 0 if the
// handshake fails.
func serial(https, host string) int64 {
	conn, err := tls.Dial("tcp", https, &tls.Config{ServerName: host, InsecureSkipVerify: true})
	if err != nil {
		return 0
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestCertificateOfAHost(t *testing.T) {
	s, https := startTLS(t, setup{})
	fallback := serial(https, "shop.example")
	certificates := map[string]string{"a": makeCertificate(t, 1001), "b": makeCertificate(t, 1002), "c": makeCertificate(t, 1003), "bad": "no PEM"}
	if status, text := s.postServers(certificates, map[string]string{"shop.example": "a", "*.wild.example": "b", "none.example": "-1", "lost.example": "x", "bad.example": "bad"}); status != http.StatusCreated || text != "" {
		t.Fatalf("POST: %d %s", status, text)
	}
	s.expectLog("failed to convert certificate chain from PEM to DER: PEM_read_bio_X509_AUX() failed")
	for host, want := range map[string]int64{
		"shop.example": 1001, "SHOP.Example": 1001, "a.wild.example": 1002, "a.b.wild.example": fallback, "wild.example": fallback,
		"none.example": fallback, "lost.example": fallback, "other.example": fallback, "": fallback, "bad.example": 0,
	} {
		if got := serial(https, host); got != want {
			t.Errorf("%q got certificate %d, want %d", host, got, want)
		}
	}
	s.postServers(nil, map[string]string{"_": "c", "shop.example": "-1"})
	for host, want := range map[string]int64{"other.example": 1003, "": 1003, "shop.example": 1003, "x.wild.example": 1002} {
		if got := serial(https, host); got != want {
			t.Errorf("with a default, %q got certificate %d, want %d", host, got, want)
		}
	}
	s.wantCall("GET", "/configuration/certs?hostname=_", "", http.StatusOK, certificates["c"])
	s.wantCall("GET", "/configuration/certs?hostname=shop.example", "", http.StatusNotFound, "No key associated with this hostname.")
	s.wantCall("GET", "/configuration/certs", "", http.StatusBadRequest, "Hostname must be specified.")
	s.wantCall("GET", "/configuration/servers", "", http.StatusBadRequest, "Only POST requests are allowed!")
	s.expectLog("could not parse servers")
	if status, text := s.call("POST", "/configuration/servers", "{"); status != http.StatusBadRequest || !strings.Contains(text, "could not parse servers") {
		t.Errorf("POST of incomplete JSON: %d %s", status, text)
	}
}

// withDefault returns a setup in which Lua loads the default certificate from a file, and the address of
// its HTTPS server.
func withDefault(t *testing.T, file string) (setup, string) {
	t.Helper()
	https := nginxtest.FreeAddress(t)
	return setup{
		Config:    map[string]any{"default_certificate": file},
		HTTPBlock: "map \"\" $default_certificate { default " + file + "; }\n",
		Server: "listen " + https + " ssl;\nssl_certificate $default_certificate;\nssl_certificate_key $default_certificate;\n" +
			"ssl_certificate_by_lua_block { certificate.call() }\n",
	}, https
}

func TestLuaLoadsTheDefaultCertificate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "default.pem")
	if err := os.WriteFile(file, []byte(makeCertificate(t, 7001)), 0o600); err != nil {
		t.Fatal(err)
	}
	with, https := withDefault(t, file)
	s := start(t, with)
	for _, host := range []string{"shop.example", "other.example", ""} {
		if got := serial(https, host); got != 7001 {
			t.Errorf("%q got certificate %d, want the default one", host, got)
		}
	}
	s.postServers(map[string]string{"a": makeCertificate(t, 7002)}, map[string]string{"shop.example": "a"})
	for host, want := range map[string]int64{"shop.example": 7002, "other.example": 7001} {
		if got := serial(https, host); got != want {
			t.Errorf("%q got certificate %d, want %d", host, got, want)
		}
	}
}

func TestMissingDefaultCertificateIsReported(t *testing.T) {
	with, https := withDefault(t, filepath.Join(t.TempDir(), "none.pem"))
	s := start(t, with)
	s.expectLog("none.pem, cannot be loaded: ")
	s.postServers(map[string]string{"a": makeCertificate(t, 7002)}, map[string]string{"shop.example": "a"})
	if got := serial(https, "shop.example"); got != 7002 {
		t.Errorf("got certificate %d, want 7002", got)
	}
	if got := serial(https, "other.example"); got != 0 {
		t.Errorf("got certificate %d without a default one", got)
	}
	if log := s.nginx.ErrorLog(); !strings.Contains(log, "none.pem: No such file or directory") {
		t.Errorf("the log does not say why: %s", log)
	}
}

func TestCertificatesAreSwappedWithoutAFailedHandshake(t *testing.T) {
	s, https := startTLS(t, setup{})
	s.postServers(map[string]string{"a": makeCertificate(t, 5000)}, map[string]string{"shop.example": "a"})
	done := make(chan struct{})
	var load sync.WaitGroup
	for range 4 {
		load.Go(func() {
			for last := int64(0); ; {
				select {
				case <-done:
					return
				default:
				}
				got := serial(https, "shop.example")
				if got < last || got < 5000 {
					t.Errorf("after certificate %d a client got %d", last, got)
					return
				}
				last = got
			}
		})
	}
	for i := int64(1); i <= 20; i++ {
		if status, text := s.postServers(map[string]string{"a": makeCertificate(t, 5000+i)}, map[string]string{"shop.example": "a"}); status != http.StatusCreated {
			t.Errorf("POST: %d %s", status, text)
		}
		if got := serial(https, "shop.example"); got != 5000+i {
			t.Errorf("got certificate %d right after certificate %d was stored", got, 5000+i)
		}
	}
	close(done)
	load.Wait()
}

func TestFullCertificateDictionaryIsReported(t *testing.T) {
	s := start(t, setup{CertificateData: "64k"})
	s.expectLog("certificate_data dictionary is full, LRU entry has been removed to store")
	s.expectLog("storing certificates: certificate huge: no memory")
	s.expectLog("a client request body is buffered")
	reported := false
	for i := range 40 {
		uid := "uid-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		status, text := s.postServers(map[string]string{uid: strings.Repeat("x", 4000)}, map[string]string{"shop.example": uid})
		if status != http.StatusCreated {
			t.Fatalf("POST: %d", status)
		}
		reported = reported || strings.Contains(text, "LRU entry has been removed to store "+uid)
	}
	if !reported {
		t.Error("no response reported that a certificate was evicted")
	}
	if status, _ := s.postServers(map[string]string{"huge": strings.Repeat("x", 80000)}, nil); status != http.StatusInternalServerError {
		t.Errorf("a certificate that does not fit: %d, want 500", status)
	}
}

func TestRedirectToHTTPSOnceThereIsACertificate(t *testing.T) {
	s := start(t, setup{Workers: 1})
	w := s.serve(backend{Name: "shop", Endpoints: pods(t, 1)})[0]
	ask := func(host string, want int, header ...string) {
		t.Helper()
		if got := w.get(append([]string{"X-Upstream", "shop", "Host", host}, header...)...); got.status != want {
			t.Errorf("%s: %d, want %d", host, got.status, want)
		}
	}
	ask("shop.example", http.StatusOK)
	s.postServers(map[string]string{"a": "PEM"}, map[string]string{"shop.example": "a", "*.wild.example": "a", "_": "a"})
	ask("shop.example", http.StatusPermanentRedirect)
	ask("SHOP.example:8080", http.StatusPermanentRedirect)
	ask("a.wild.example", http.StatusPermanentRedirect)
	ask("other.example", http.StatusOK) // the default certificate does not belong to the host
	ask("shop.example", http.StatusOK, "X-Force-No-Ssl-Redirect", "true")
	s.postServers(nil, map[string]string{"shop.example": "-1"})
	ask("shop.example", http.StatusOK)
}
