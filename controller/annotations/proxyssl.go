package annotations

import (
	"slices"
	"strings"
)

// ProxySSL contains the options of TLS connections to pods.
type ProxySSL struct {
	Secret             string // namespace/name; empty: the other fields have no effect
	Ciphers            string
	Protocols          string
	ProxySSLName       string
	Verify             string // on or off
	VerifyDepth        int
	ProxySSLServerName string // on or off
}

var (
	cipherChars = pattern(`(?:@STRENGTH|@SECLEVEL=[0-5]|[A-Za-z0-9!:+\-_.,])*`, "")
	ciphers     = Want{Text: "a list of ciphers as OpenSSL writes it", ok: areCiphers}
)

// areCiphers reports whether a text is a cipher list with at least one name; OpenSSL rejects an
// empty list. It does not check whether OpenSSL knows the names.
func areCiphers(s string) bool {
	return cipherChars.ok(s) && slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == ',' }),
		func(item string) bool { return !strings.ContainsAny(item[:1], "!-+@") })
}

var proxySSL = Family{
	Name: "TLS to pods",
	Keys: []Key{
		{Name: "proxy-ssl-secret", Doc: "Secret (namespace/name) with the client certificate for pods (tls.crt, tls.key) and the CA of their certificates (ca.crt); required by the other annotations of this group.", Risk: Medium, Scope: OfBoth, Want: Whole, Bad: RejectsAll, Secret: true, Protects: podVerification, TurnsOn: true},
		{Name: "proxy-ssl-ciphers", Doc: "Cipher suites.", Risk: Medium, Scope: OfBoth, Want: ciphers, Bad: RejectsAll, Protects: podVerification},
		{Name: "proxy-ssl-protocols", Doc: "TLS versions: TLSv1.2, TLSv1.3 or both.", Risk: Low, Scope: OfBoth, Want: WordsOf("TLSv1.2", "TLSv1.3"), Protects: podVerification},
		{Name: "proxy-ssl-name", Doc: "Expected name in the certificates of pods.", Risk: High, Scope: OfBoth, Want: Template, Protects: podVerification},
		{Name: "proxy-ssl-verify", Doc: "Verify the certificates of pods.", Risk: Low, Scope: OfBoth, Want: OnOff, Bad: RejectsAll, Protects: podVerification},
		{Name: "proxy-ssl-verify-depth", Doc: "Maximum number of certificates between a pod's and the CA's.", Risk: Low, Scope: OfBoth, Want: Natural, Protects: podVerification},
		{Name: "proxy-ssl-server-name", Doc: "Send the name to pods (SNI).", Risk: Low, Scope: OfBoth, Want: OnOff, Protects: podVerification},
	},
	parse: func(r *reader, set *Set) {
		secret := r.reference("proxy-ssl-secret", true)
		if secret == "" {
			return
		}
		set.ProxySSL = ProxySSL{
			Secret:             secret,
			Ciphers:            r.text("proxy-ssl-ciphers", "DEFAULT"),
			Protocols:          sortedWords(r.text("proxy-ssl-protocols", "TLSv1.2")),
			ProxySSLName:       r.text("proxy-ssl-name", ""),
			Verify:             r.text("proxy-ssl-verify", "off"),
			VerifyDepth:        r.number("proxy-ssl-verify-depth", 1),
			ProxySSLServerName: r.text("proxy-ssl-server-name", "off"),
		}
	},
}

func sortedWords(text string) string {
	fields := strings.Fields(text)
	slices.Sort(fields)
	return strings.Join(slices.Compact(fields), " ")
}
