package dump

import (
	"crypto/sha1"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"windtunnel.dev/sim/corpus/certificates"
)

// The keys of a Secret that the controller reads.
const (
	authorityKey  = "ca.crt"
	revocationKey = "ca.crl"
	passwordsKey  = "auth"
	dhParamKey    = "dhparam.pem"
)

// secret returns a Secret with the parts that the controller reads: generated certificates and keys
// in place of the user's, and hashes of Password. Parts that cannot be parsed stay invalid.
func (i *importer) secret(s *corev1.Secret) (*corev1.Secret, error) {
	how := i.wanted.secrets[nameOf(s)]
	kept := &corev1.Secret{TypeMeta: kindOf("v1", "Secret"), ObjectMeta: i.meta(s), Type: s.Type, Data: map[string][]byte{}}
	if err := i.certificates(s, kept, how); err != nil {
		return nil, fmt.Errorf("Secret %s: %w", nameOf(s), err)
	}
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		value := s.Data[key]
		switch {
		case kept.Data[key] != nil:
		case how&asAuthMap != 0:
			kept.Data[i.user(key)] = []byte(PasswordHash)
			i.Replaced["password hash"]++
		case how&asAuthFile != 0 && key == passwordsKey:
			kept.Data[key] = i.passwordFile(value)
		case how&asDHParam != 0 && key == dhParamKey:
			kept.Data[key] = parameters(value)
		default:
			i.LeftOut["key of a Secret that the controller does not read"]++
		}
	}
	return kept, nil
}

// certificates adds the parts of a Secret for TLS. All Secrets that the controller reads for TLS may
// have all of them.
func (i *importer) certificates(s, kept *corev1.Secret, how use) error {
	if how&(asCertificate|asAuthority) == 0 {
		return nil
	}
	if text, set := s.Data[corev1.TLSCertKey]; set {
		pair, err := i.pair(kept, text, s.Data[corev1.TLSPrivateKeyKey])
		if err != nil {
			return err
		}
		kept.Data[corev1.TLSCertKey] = pair.Certificate
		if _, set := s.Data[corev1.TLSPrivateKeyKey]; set {
			kept.Data[corev1.TLSPrivateKeyKey] = pair.Key
		}
	} else if key, set := s.Data[corev1.TLSPrivateKeyKey]; set {
		kept.Data[corev1.TLSPrivateKeyKey] = unreadable(key)
	}
	authority := parsed(s.Data[authorityKey])
	if text, set := s.Data[authorityKey]; set {
		certificate, err := i.authority(kept, authority, text)
		if err != nil {
			return err
		}
		kept.Data[authorityKey] = certificate
	}
	if text, set := s.Data[revocationKey]; set {
		list, err := i.revocations(kept, authority, text)
		if err != nil {
			return err
		}
		kept.Data[revocationKey] = list
	}
	return nil
}

// pair returns a generated certificate for the names in the user's certificate. If the user's key
// does not belong to the certificate, the generated key does not belong to the generated
// certificate either.
func (i *importer) pair(kept *corev1.Secret, certificate, key []byte) (certificates.Pair, error) {
	found := parsed(certificate)
	if len(found) == 0 {
		i.Replaced["certificate that cannot be read"]++
		return certificates.Pair{Certificate: unreadable(certificate), Key: unreadable(key)}, nil
	}
	seed := "certificate " + kept.Namespace + "/" + kept.Name
	pair, err := certificates.SelfSigned(i.hashedNames(found[0]), seed)
	if err != nil {
		return pair, err
	}
	i.Replaced["certificate"]++
	if len(found) > 1 {
		i.LeftOut["certificate of a chain"] += len(found) - 1
	}
	if _, err := tls.X509KeyPair(certificate, key); err != nil {
		other, err := certificates.SelfSigned(i.hashedNames(found[0]), "another "+seed)
		if err != nil {
			return pair, err
		}
		pair.Key = other.Key
		if len(parsedKey(key)) == 0 {
			pair.Key = unreadable(key)
		}
	}
	return pair, nil
}

func (i *importer) authority(kept *corev1.Secret, found []*x509.Certificate, text []byte) ([]byte, error) {
	if len(found) == 0 {
		i.Replaced["certificate that cannot be read"]++
		return unreadable(text), nil
	}
	var all []byte
	for n, one := range found {
		pair, err := certificates.SelfSigned(i.hashedNames(one), authoritySeed(kept, n))
		if err != nil {
			return nil, err
		}
		all = append(all, pair.Certificate...)
		i.Replaced["certificate of an authority"]++
	}
	return all, nil
}

func authoritySeed(kept *corev1.Secret, n int) string {
	return fmt.Sprintf("authority %s/%s %d", kept.Namespace, kept.Name, n)
}

// revocations returns an empty revocation list of the first authority.
func (i *importer) revocations(kept *corev1.Secret, authorities []*x509.Certificate, text []byte) ([]byte, error) {
	list := parsedList(text)
	if list == nil || len(authorities) == 0 {
		i.Replaced["revocation list that cannot be used"]++
		return unreadable(text), nil
	}
	i.Replaced["revocation list, by an empty one"]++
	return certificates.Revocations(i.hashedNames(authorities[0]), authoritySeed(kept, 0), list.ThisUpdate, list.NextUpdate)
}

// parsedList parses a revocation list in PEM. It returns nil if that is not possible.
func parsedList(text []byte) *x509.RevocationList {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil
	}
	list, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		return nil
	}
	return list
}

// longestCommonName is ub-common-name of RFC 5280.
const longestCommonName = 64

// hashedNames returns a certificate as a template, with hashed names if names are hashed. The
// other names of its owner, such as mail addresses, are then left out.
func (i *importer) hashedNames(c *x509.Certificate) *x509.Certificate {
	if !i.names.hashed() {
		return c
	}
	kept := *c
	common := i.names.host(c.Subject.CommonName)
	if len(common) > longestCommonName || strings.ContainsAny(common, " /@") {
		common = i.names.label(c.Subject.CommonName)
	}
	kept.Subject = pkix.Name{CommonName: common}
	kept.DNSNames, kept.EmailAddresses, kept.URIs = nil, nil, nil
	for _, host := range c.DNSNames {
		kept.DNSNames = append(kept.DNSNames, i.names.host(host))
	}
	return &kept
}

// parsed returns the certificates in a PEM text, or none if one of them cannot be read.
func parsed(text []byte) []*x509.Certificate {
	var all []*x509.Certificate
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			return all
		}
		text = rest
		if block.Type != "CERTIFICATE" {
			continue
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil
		}
		all = append(all, one)
	}
}

func parsedKey(text []byte) []byte {
	if block, _ := pem.Decode(text); block != nil && strings.HasSuffix(block.Type, "PRIVATE KEY") {
		return block.Bytes
	}
	return nil
}

// unreadable returns a replacement for a text that cannot be read. An empty text stays empty.
func unreadable(text []byte) []byte {
	if len(text) == 0 {
		return []byte{}
	}
	return []byte("not readable\n")
}

// parameters keeps the Diffie-Hellman group of a text, which is public.
func parameters(text []byte) []byte {
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return unreadable(text)
		}
		if strings.HasSuffix(block.Type, "DH PARAMETERS") {
			block.Headers = nil
			return pem.EncodeToMemory(block)
		}
	}
}

// Password is the password of every user of an import.
const Password = "windtunnel"

// PasswordHash is the hash of Password, as nginx reads it (ngx_http_auth_basic_module).
var PasswordHash = func() string {
	sum := sha1.Sum([]byte(Password))
	return "{SHA}" + base64.StdEncoding.EncodeToString(sum[:])
}()

// passwordFile replaces the hashes in a password file. It omits lines that are not entries.
func (i *importer) passwordFile(text []byte) []byte {
	var kept strings.Builder
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		user, _, found := strings.Cut(line, ":")
		switch {
		case line == "":
		case !found || strings.HasPrefix(line, "#"):
			i.LeftOut["line of a password file that is not an entry"]++
		default:
			fmt.Fprintf(&kept, "%s:%s\n", i.user(user), PasswordHash)
			i.Replaced["password hash"]++
		}
	}
	if kept.Len() == 0 {
		return unreadable(text)
	}
	return []byte(kept.String())
}

// user hashes the name of a user. It is the key of a Secret in an auth-map.
func (i *importer) user(text string) string {
	if !i.names.hashed() {
		return text
	}
	return i.names.label(text)
}

// ticketKey returns a public key for session tickets, of the same length.
func ticketKey(text string) string {
	old, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil || len(old) == 0 {
		return string(unreadable([]byte(text)))
	}
	sum := sha256.Sum256([]byte("ticket key"))
	made := make([]byte, len(old))
	for n := range made {
		made[n] = sum[n%len(sum)]
	}
	return base64.StdEncoding.EncodeToString(made)
}
