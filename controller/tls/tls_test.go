package tls_test

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	ours "windtunnel.dev/controller/tls"
	"windtunnel.dev/internal/pki"
)

var authority = pki.New("root")

func TestFake(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	pair, err := ours.Fake(now)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := pair.Leaf.Subject.CommonName, "Kubernetes Ingress Controller Fake Certificate"; got != want {
		t.Errorf("common name %q, want %q", got, want)
	}
	if err := pair.Covers("ingress.local"); err != nil {
		t.Error(err)
	}
	if want := now.AddDate(0, 0, 365); !pair.Expires().Equal(want) {
		t.Errorf("valid until %v, want 365 days, %v", pair.Expires(), want)
	}
	other, err := ours.Fake(now)
	if err != nil {
		t.Fatal(err)
	}
	if pair.SHA == other.SHA || pair.PEM == other.PEM {
		t.Error("two calls return the same certificate")
	}
}

func TestReadPair(t *testing.T) {
	chain, err := authority.Issue("a.example", []string{"b.example", "*.c.example"}), error(nil)
	pair, err := ours.ReadPair(append(chain.Certificate, authority.PEM...), chain.Key)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"*.c.example", "a.example", "b.example"}; !slices.Equal(pair.Names, want) {
		t.Errorf("names %v, want %v", pair.Names, want)
	}
	if len(pair.Chain) != 2 || !strings.HasSuffix(pair.PEM, "\n"+string(chain.Key)) {
		t.Errorf("%d certificates in the chain, PEM %q", len(pair.Chain), pair.PEM)
	}
	if alone, err := ours.ReadPair(chain.Certificate, chain.Key); err != nil || alone.SHA != pair.SHA || len(pair.SHA) != 40 {
		t.Errorf("SHA-1 %q is not that of the first certificate (%v)", pair.SHA, err)
	}
	if _, err := ours.ReadPair(chain.Both(), chain.Both()); err != nil {
		t.Errorf("certificate and key in one text: %v", err)
	}
}

func TestCovers(t *testing.T) {
	withNames := authority.Issue("common.example", []string{"a.example", "*.b.example"})
	without := authority.Issue("*.Common.example", nil)
	for _, test := range []struct {
		pair pki.Pair
		host string
		want bool
	}{
		{withNames, "a.example", true},
		{withNames, "A.example", true},
		{withNames, "x.b.example", true},
		{withNames, "*.b.example", true},
		{withNames, "b.example", false},
		{withNames, "x.y.b.example", false},
		{withNames, "common.example", false},
		{without, "a.common.example", true},
		{without, "*.common.example", true},
		{without, "common.example", false},
		{without, "", false},
	} {
		pair, err := ours.ReadPair(test.pair.Certificate, test.pair.Key)
		if err != nil {
			t.Fatal(err)
		}
		if err := pair.Covers(test.host); (err == nil) != test.want {
			t.Errorf("%v covers %s: %v", pair.Names, test.host, err)
		}
	}
}

func TestReadReportsTheWrongKey(t *testing.T) {
	good, other := authority.Issue("a", nil), authority.Issue("b", nil)
	encrypted := bytes.ReplaceAll(good.Key, []byte("PRIVATE KEY"), []byte("ENCRYPTED PRIVATE KEY"))
	for name, test := range map[string]struct {
		data map[string][]byte
		want string
	}{
		"good":            {map[string][]byte{"tls.crt": good.Certificate, "tls.key": good.Key, "ca.crt": authority.PEM, "ca.crl": authority.Revoke(other)}, ""},
		"nothing":         {nil, ""},
		"no certificate":  {map[string][]byte{"tls.crt": []byte("x"), "tls.key": good.Key}, "tls.crt: no PEM block CERTIFICATE"},
		"no key":          {map[string][]byte{"tls.crt": good.Certificate, "tls.key": []byte("x")}, "tls.key: no PEM block PRIVATE KEY"},
		"key missing":     {map[string][]byte{"tls.crt": good.Certificate}, "tls.key is missing"},
		"only a key":      {map[string][]byte{"tls.key": good.Key}, "tls.crt is missing"},
		"another's key":   {map[string][]byte{"tls.crt": good.Certificate, "tls.key": other.Key}, "tls.crt and tls.key: private key does not match public key"},
		"encrypted key":   {map[string][]byte{"tls.crt": good.Certificate, "tls.key": encrypted}, "tls.key: the key is encrypted"},
		"damaged":         {map[string][]byte{"tls.crt": append(good.Certificate, "-----BEGIN CERTIFICATE-----\n=\n"...), "tls.key": good.Key}, "tls.crt: of 2 PEM blocks 1 cannot be read"},
		"no certificates": {map[string][]byte{"tls.crt": bytes.Replace(good.Certificate, []byte("MII"), []byte("MIX"), 1), "tls.key": good.Key}, "tls.crt: certificate 1 cannot be read: malformed certificate"},
		"bad CA":          {map[string][]byte{"ca.crt": good.Key}, "ca.crt: no PEM block CERTIFICATE"},
		"bad CRL":         {map[string][]byte{"ca.crl": authority.PEM}, "ca.crl: no PEM block X509 CRL"},
	} {
		t.Run(name, func(t *testing.T) {
			read := ours.Read(&corev1.Secret{Data: test.data})
			err := read.Err()
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %v, want %s", err, test.want)
			}
			if read.Pair != nil || read.CA != nil || read.Revocations != nil {
				t.Errorf("Read returned a partial result: %+v", read)
			}
			for _, secret := range []string{string(good.Key), string(other.Key)} {
				if line := strings.Split(secret, "\n")[1]; strings.Contains(err.Error(), line) {
					t.Error("the error contains the private key")
				}
			}
		})
	}
}

// A problem with one part does not affect the others.
func TestReadPartly(t *testing.T) {
	read := ours.Read(&corev1.Secret{Data: map[string][]byte{"tls.crt": []byte("x"), "tls.key": []byte("y"), "ca.crt": authority.PEM}})
	if read.Pair != nil || read.CA == nil || len(read.Problems) != 1 {
		t.Errorf("got %+v", read)
	}
}

func TestDHParam(t *testing.T) {
	group := func(bits uint) []byte {
		der, err := asn1.Marshal(struct{ Prime, Generator *big.Int }{new(big.Int).Lsh(big.NewInt(1), bits-1), big.NewInt(2)})
		if err != nil {
			t.Fatal(err)
		}
		return pem.EncodeToMemory(&pem.Block{Type: "DH PARAMETERS", Bytes: der})
	}
	if err := ours.CheckDHParam(group(2048)); err != nil {
		t.Error(err)
	}
	for name, text := range map[string][]byte{"short": group(1024), "certificate": authority.PEM, "nothing": nil} {
		if err := ours.CheckDHParam(text); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

// OpenSSL, and therefore nginx, rejects weak certificates.
func TestWeak(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "short"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	short, err := ours.ReadPair(
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}))
	if err != nil {
		t.Fatal(err)
	}
	if err := short.Weak(); err == nil {
		t.Error("an RSA key of 1024 bits is accepted")
	}
	good := authority.Issue("a", nil)
	pair, err := ours.ReadPair(good.Certificate, good.Key)
	if err != nil {
		t.Fatal(err)
	}
	if err := pair.Weak(); err != nil {
		t.Error(err)
	}
	fake, err := ours.Fake(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := fake.Weak(); err != nil {
		t.Error(err)
	}
}

// For all contents of a Secret, Read returns parts that nginx accepts, or problems. It never
// panics.
func FuzzRead(f *testing.F) {
	pair := authority.Issue("a.example", nil, func(c *x509.Certificate) { c.Subject = pkix.Name{Organization: []string{"x"}} })
	f.Add(pair.Certificate, pair.Key, authority.PEM, authority.Revoke())
	f.Add(pair.Both(), pair.Both(), []byte("-----BEGIN "), []byte("-----BEGIN X509 CRL-----\n\n-----END X509 CRL-----\n"))
	f.Fuzz(func(t *testing.T, certificate, key, ca, crl []byte) {
		read := ours.Read(&corev1.Secret{Data: map[string][]byte{"tls.crt": certificate, "tls.key": key, "ca.crt": ca, "ca.crl": crl}})
		missing := (len(certificate)+len(key) > 0 && read.Pair == nil) || (len(ca) > 0 && read.CA == nil) || (len(crl) > 0 && read.Revocations == nil)
		if missing != (read.Err() != nil) {
			t.Errorf("read %+v, problems %v", read, read.Err())
		}
		if read.Pair != nil {
			read.Pair.Covers("a.example")
		}
	})
}
