package lua_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// authority is a CA with an OCSP responder.
type authority struct {
	key     *ecdsa.PrivateKey
	der     []byte
	asked   atomic.Int32
	answers atomic.Value // []byte, the response of the responder
	delay   func()       // called before the responder answers; may be nil
	address string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	a := &authority{key: key, der: der}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/ocsp-request" || len(body) == 0 {
			t.Errorf("the responder got %s %v with %d bytes", r.Method, r.Header, len(body))
		}
		a.asked.Add(1)
		if a.delay != nil {
			a.delay()
		}
		_, _ = w.Write(a.answers.Load().([]byte))
	}))
	server.Listener.Close()
	server.Listener = listen(t)
	server.Start()
	t.Cleanup(server.Close)
	a.address = server.Listener.Addr().String()
	return a
}

// issue returns a certificate with its chain and key as PEM. It names the responders.
func (a *authority) issue(t *testing.T, serial int64, responders ...string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ca, err := x509.ParseCertificate(a.der)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"}, DNSNames: []string{"shop.example"},
		OCSPServer: responders, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, ca, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, block := range []*pem.Block{{Type: "CERTIFICATE", Bytes: der}, {Type: "CERTIFICATE", Bytes: a.der}, {Type: "PRIVATE KEY", Bytes: private}} {
		text = append(text, pem.EncodeToMemory(block)...)
	}
	return string(text)
}

// response returns an OCSP response (RFC 6960) with status "good" for a certificate.
func (a *authority) response(t *testing.T, serial int64) []byte {
	t.Helper()
	ca, err := x509.ParseCertificate(a.der)
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Algorithm pkix.AlgorithmIdentifier
		PublicKey asn1.BitString
	}
	if _, err := asn1.Unmarshal(ca.RawSubjectPublicKeyInfo, &info); err != nil {
		t.Fatal(err)
	}
	nameHash, keyHash := sha1.Sum(ca.RawSubject), sha1.Sum(info.PublicKey.RightAlign())
	type certID struct {
		Hash          pkix.AlgorithmIdentifier
		NameHash, Key []byte
		Serial        *big.Int
	}
	type single struct {
		ID         certID
		Good       asn1.RawValue
		ThisUpdate time.Time `asn1:"generalized"`
		NextUpdate time.Time `asn1:"generalized,explicit,tag:0"`
	}
	type data struct {
		Key        []byte    `asn1:"explicit,tag:2"`
		ProducedAt time.Time `asn1:"generalized"`
		Responses  []single
	}
	marshal := func(value any) []byte {
		der, err := asn1.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	now := time.Now().UTC().Truncate(time.Second)
	tbs := marshal(data{Key: keyHash[:], ProducedAt: now, Responses: []single{{
		ID:   certID{pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}, Parameters: asn1.NullRawValue}, nameHash[:], keyHash[:], big.NewInt(serial)},
		Good: asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 0}, ThisUpdate: now.Add(-time.Minute), NextUpdate: now.Add(time.Hour),
	}}})
	digest := sha256.Sum256(tbs)
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	basic := marshal(struct {
		Data      asn1.RawValue
		Algorithm pkix.AlgorithmIdentifier
		Signature asn1.BitString
	}{asn1.RawValue{FullBytes: tbs}, pkix.AlgorithmIdentifier{Algorithm: asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}}, asn1.BitString{Bytes: signature, BitLength: 8 * len(signature)}})
	type bytes struct {
		Type     asn1.ObjectIdentifier
		Response []byte
	}
	return marshal(struct {
		Status asn1.Enumerated
		Bytes  bytes `asn1:"explicit,tag:0"`
	}{0, bytes{asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 1}, basic}})
}

// stapled returns the OCSP response in a handshake.
func stapled(t *testing.T, https string) []byte {
	t.Helper()
	conn, err := tls.Dial("tcp", https, &tls.Config{ServerName: "shop.example", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().OCSPResponse
}

func TestOCSPStapling(t *testing.T) {
	names := serveNames(t)
	a := newAuthority(t)
	host, port, _ := net.SplitHostPort(a.address)
	names.set("ocsp.example.com", host)
	s, https := startTLS(t, setup{Workers: 1, Config: map[string]any{"enable_ocsp": true}, Replace: names.asNameserver()})
	good := a.response(t, 77)
	a.answers.Store(good)
	servers := map[string]string{"shop.example": "a"}
	s.postServers(map[string]string{"a": a.issue(t, 77, "http://ocsp.example.com:"+port+"/ocsp")}, servers)
	if got := stapled(t, https); got != nil {
		t.Error("the first handshake, which must not wait, has a response")
	}
	s.nginx.Await("the response in a handshake", func() bool { return string(stapled(t, https)) == string(good) })
	for range 5 {
		stapled(t, https)
	}
	if n := a.asked.Load(); n != 1 {
		t.Errorf("the responder got %d requests", n)
	}

	// A wrong response is rejected.
	s.expectLog("validating the response of")
	a.answers.Store(good)
	s.postServers(map[string]string{"b": a.issue(t, 78, "http://"+a.address+"/")}, map[string]string{"shop.example": "b"})
	stapled(t, https)
	s.nginx.Await("the second request", func() bool { return a.asked.Load() == 2 })
	for range 3 {
		if got := stapled(t, https); got != nil {
			t.Error("a response for another certificate was stapled")
		}
	}
	if n := a.asked.Load(); n != 2 {
		t.Errorf("a failed responder got %d requests before the end of the backoff", n-1)
	}
}

// A certificate that is renewed under its id must not be served with the old certificate's
// response.
func TestRenewedCertificateHasNoOCSPResponse(t *testing.T) {
	a := newAuthority(t)
	s, https := startTLS(t, setup{Workers: 1, Config: map[string]any{"enable_ocsp": true}})
	good := a.response(t, 77)
	a.answers.Store(good)
	servers := map[string]string{"shop.example": "a"}
	s.postServers(map[string]string{"a": a.issue(t, 77, "http://"+a.address+"/")}, servers)
	s.nginx.Await("the response in a handshake", func() bool { return string(stapled(t, https)) == string(good) })
	s.postServers(map[string]string{"a": a.issue(t, 78)}, servers)
	if got := stapled(t, https); got != nil {
		t.Error("the response for the old certificate is stapled to the new one")
	}
}

// The response for a certificate may arrive after the certificate was renewed.
func TestLateOCSPResponseIsDropped(t *testing.T) {
	a := newAuthority(t)
	a.answers.Store(a.response(t, 77))
	asked, renewed := make(chan bool), make(chan bool)
	a.delay = func() {
		close(asked)
		<-renewed
	}
	s, https := startTLS(t, setup{Workers: 1, Config: map[string]any{"enable_ocsp": true}})
	servers := map[string]string{"shop.example": "a"}
	s.postServers(map[string]string{"a": a.issue(t, 77, "http://"+a.address+"/")}, servers)
	stapled(t, https)
	<-asked
	s.postServers(map[string]string{"a": a.issue(t, 78)}, servers)
	close(renewed)
	s.nginx.Await("the response", func() bool { return strings.Contains(s.nginx.ErrorLog(), "was renewed meanwhile") })
	if got := stapled(t, https); got != nil {
		t.Error("the response for the old certificate is stapled to the new one")
	}
}

// A certificate without a responder may be renewed with one that names a responder.
func TestRenewedCertificateIsStapled(t *testing.T) {
	a := newAuthority(t)
	s, https := startTLS(t, setup{Workers: 1, Config: map[string]any{"enable_ocsp": true}})
	good := a.response(t, 78)
	a.answers.Store(good)
	servers := map[string]string{"shop.example": "a"}
	s.postServers(map[string]string{"a": a.issue(t, 77)}, servers)
	if got := stapled(t, https); got != nil {
		t.Error("a response without a responder is stapled")
	}
	s.postServers(map[string]string{"a": a.issue(t, 78, "http://"+a.address+"/")}, servers)
	s.nginx.Await("the response in a handshake", func() bool { return string(stapled(t, https)) == string(good) })
}
