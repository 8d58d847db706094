package run

import (
	"bytes"
	"crypto/x509"
	"io"
	"net/http"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"windtunnel.dev/sim/behave"
)

func TestAuthorityServer(t *testing.T) {
	specs := map[string]behave.Certificate{
		"root": {Authority: true}, "middle": {Authority: true, SignedBy: "root", Revokes: []string{"lost"}},
		"good": {SignedBy: "middle", CAIssuers: true, OCSP: true}, "lost": {SignedBy: "middle", OCSP: true},
	}
	server, err := listenForAuthorities(specs)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.close() })
	all, err := issue(specs, server, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	server.serve(all)
	good := all["good"].Leaf
	response, err := http.Get(good.IssuingCertificateURL[0])
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	der, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if issuer, err := x509.ParseCertificate(der); err != nil || good.CheckSignatureFrom(issuer) != nil {
		t.Errorf("the issuer is %v, %v", issuer, err)
	}
	for name, want := range map[string]int{"good": ocsp.Good, "lost": ocsp.Revoked} {
		leaf := all[name].Leaf
		request, err := ocsp.CreateRequest(leaf, all["middle"].Leaf, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.Post(leaf.OCSPServer[0], "application/ocsp-request", bytes.NewReader(request))
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ocsp.ParseResponseForCert(text, leaf, all["middle"].Leaf); err != nil || got.Status != want {
			t.Errorf("%s: %+v, %v, want status %d", name, got, err, want)
		}
	}
}

func TestNoAuthorityServerWithoutURLs(t *testing.T) {
	server, err := listenForAuthorities(map[string]behave.Certificate{"a": {}})
	if server != nil || err != nil {
		t.Errorf("%v, %v", server, err)
	}
}
