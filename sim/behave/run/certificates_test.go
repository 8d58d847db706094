package run

import (
	"crypto/rsa"
	"crypto/x509"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/behave"
)

func TestIssue(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	all, err := issue(map[string]behave.Certificate{
		"leaf":    {Hosts: []string{"a.example", "127.0.0.1"}, SignedBy: "middle", Key: "rsa"},
		"middle":  {Authority: true, SignedBy: "root"},
		"root":    {Authority: true},
		"expired": {CommonName: "old", Valid: -time.Hour},
	}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	roots, between := x509.NewCertPool(), x509.NewCertPool()
	roots.AddCert(all["root"].Leaf)
	between.AddCert(all["middle"].Leaf)
	for _, host := range []string{"a.example", "127.0.0.1"} {
		if _, err := all["leaf"].Leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: roots, Intermediates: between, CurrentTime: now}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if _, ok := all["leaf"].PrivateKey.(*rsa.PrivateKey); !ok {
		t.Errorf("the key is %T", all["leaf"].PrivateKey)
	}
	if name := all["leaf"].Leaf.Subject.CommonName; name != "a.example" {
		t.Errorf("the common name is %s", name)
	}
	if old := all["expired"].Leaf; !old.NotAfter.Before(now) || !old.NotBefore.Before(old.NotAfter) || old.Subject.CommonName != "old" {
		t.Errorf("expired: valid from %v to %v, for %s", old.NotBefore, old.NotAfter, old.Subject.CommonName)
	}
}

func TestIssueRejectsCircles(t *testing.T) {
	for want, certificates := range map[string]map[string]behave.Certificate{
		"signs itself":            {"a": {SignedBy: "b"}, "b": {SignedBy: "a"}},
		"there is no certificate": {"a": {SignedBy: "b"}},
	} {
		if _, err := issue(certificates, nil, time.Now()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func TestSecrets(t *testing.T) {
	now := time.Now()
	all, err := issue(map[string]behave.Certificate{
		"authority": {Authority: true},
		"strict":    {Authority: true, Revokes: []string{"lost"}},
		"lost":      {SignedBy: "strict", Namespace: behave.NoSecret},
		"client":    {SignedBy: "authority", Namespace: behave.NoSecret},
		"server":    {SignedBy: "authority", Namespace: "elsewhere"},
		"own":       {},
	}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	made, err := secrets(&behave.Case{Name: "tls/one"}, all, now)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, secret := range made {
		var keys []string
		for key := range secret.Data {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		got = append(got, secret.Namespace+"/"+secret.Name+": "+strings.Join(keys, " "))
	}
	want := []string{"tls-one/authority: ca.crt", "tls-one/own: tls.crt tls.key", "elsewhere/server: ca.crt tls.crt tls.key", "tls-one/strict: ca.crl ca.crt"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
