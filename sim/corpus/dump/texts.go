package dump

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"regexp"
)

var (
	privateKey = regexp.MustCompile(`(?s)-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?(-----END [A-Z0-9 ]*PRIVATE KEY-----|$)`)
	encoded    = regexp.MustCompile(`[A-Za-z0-9+/]{40,}={0,2}`) // an Ed25519 key in DER has 48 bytes
	// wrapped is base64 in several lines, of which the last may be short; they may be comments.
	wrapped     = regexp.MustCompile(`(?m)[A-Za-z0-9+/]{40,}(?:\r?\n[ \t#]*[A-Za-z0-9+/]{40,})*(?:\r?\n[ \t#]*[A-Za-z0-9+/]+={0,2}\r?$)?={0,2}`)
	notBase64   = regexp.MustCompile(`[^A-Za-z0-9+/]`)
	credentials = regexp.MustCompile(`://[^/\s"']*@`)
)

// withoutSecrets removes private keys, in PEM and in base64, and the names and passwords of URLs from
// a text.
func (i *importer) withoutSecrets(text string) string {
	text = privateKey.ReplaceAllStringFunc(text, func(string) string { return i.removedKey() })
	for _, form := range []*regexp.Regexp{wrapped, encoded} {
		text = form.ReplaceAllStringFunc(text, func(found string) string {
			if isKey(found) {
				return i.removedKey()
			}
			return found
		})
	}
	return credentials.ReplaceAllStringFunc(text, func(string) string {
		i.LeftOut["name and password of a URL"]++
		return "://"
	})
}

func (i *importer) removedKey() string {
	i.Replaced["private key in a text"]++
	return "(a private key was here)"
}

// isKey reports whether a text is the base64 of a private key, in PEM or DER.
func isKey(text string) bool {
	text = notBase64.ReplaceAllString(text, "")
	if len(text)%4 == 1 {
		text = text[:len(text)-1] // no base64 has this length
	}
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	if bytes.Contains(data, []byte("PRIVATE KEY-----")) {
		return true
	}
	_, pkcs8 := x509.ParsePKCS8PrivateKey(data)
	_, pkcs1 := x509.ParsePKCS1PrivateKey(data)
	_, ec := x509.ParseECPrivateKey(data)
	return pkcs8 == nil || pkcs1 == nil || ec == nil
}
