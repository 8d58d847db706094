package annotations

import "strings"

// AuthTLS contains the options of TLS client authentication.
type AuthTLS struct {
	Secret             string // namespace/name of the CA's Secret; empty: clients need no certificate
	VerifyClient       string // on, off, optional, optional_no_ca
	ValidationDepth    int
	ErrorPage          string
	PassCertToUpstream bool
	MatchCN            string // pattern of the subject's CN, with the prefix CN=
}

var matchCN = Want{Text: "CN= and a regular expression", ok: func(s string) bool {
	expression, ok := strings.CutPrefix(s, "CN=")
	return ok && expression != "" && Regex.ok(expression)
}}

var authTLS = Family{
	Name: "client certificates",
	Keys: []Key{
		{Name: "auth-tls-secret", Doc: "Secret (namespace/name) with the CA (ca.crt) of client certificates; required by the other annotations of this group.", Risk: Medium, Scope: OfServer, Want: Whole, Bad: RejectsAll, Secret: true, Protects: clientCertificates, TurnsOn: true},
		{Name: "auth-tls-verify-client", Doc: "Whether a client must present a certificate.", Risk: Medium, Scope: OfServer, Want: OneOf("on", "off", "optional", "optional_no_ca"), Protects: clientCertificates},
		{Name: "auth-tls-verify-depth", Doc: "Maximum number of certificates between the client's and the CA's.", Risk: Low, Scope: OfServer, Want: Natural, Protects: clientCertificates},
		{Name: "auth-tls-error-page", Doc: "Where clients without a valid certificate are redirected.", Risk: High, Scope: OfServer, Want: pattern(`@[A-Za-z0-9_\-]+|[/\-._~a-zA-Z0-9:,?&=]+`, "@name, a URL or a path"), Bad: RejectsAll, Protects: clientCertificates},
		{Name: "auth-tls-pass-certificate-to-upstream", Doc: "Send the certificate to pods, in the header ssl-client-cert.", Risk: Low, Scope: OfServer, Want: Boolean, Bad: RejectsAll, Protects: clientCertificates},
		{Name: "auth-tls-match-cn", Doc: "CN= and a regular expression that the certificate's common name must match.", Risk: High, Scope: OfServer, Want: matchCN, Bad: RejectsAll, Protects: clientCertificates},
	},
	parse: func(r *reader, set *Set) {
		secret := r.reference("auth-tls-secret", true)
		if secret == "" {
			return
		}
		set.AuthTLS = AuthTLS{
			Secret:             secret,
			VerifyClient:       r.text("auth-tls-verify-client", "on"),
			ValidationDepth:    max(1, r.number("auth-tls-verify-depth", 1)),
			ErrorPage:          r.text("auth-tls-error-page", ""),
			PassCertToUpstream: r.flag("auth-tls-pass-certificate-to-upstream", false),
			MatchCN:            r.text("auth-tls-match-cn", ""),
		}
	},
}
