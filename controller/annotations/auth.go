package annotations

import "strings"

// BasicDigestAuth contains the options of basic and digest authentication.
type BasicDigestAuth struct {
	Type       string // basic or digest; empty: off
	Realm      string
	Secret     string // namespace/name
	SecretType string // auth-file: the key auth contains the password file; auth-map: one key per user
	Secured    bool   // there is a password file
	File       string // user names and hashed passwords
	FileSHA    string
}

var basicDigestAuth = Family{
	Name: "passwords",
	Keys: []Key{
		{Name: "auth-type", Doc: "Ask clients for a name and password: basic or digest; required by the other annotations of this group.", Risk: Low, Scope: OfLocation, Want: OneOf("basic", "digest"), Bad: RejectsAll, Protects: passwords, TurnsOn: true},
		{Name: "auth-secret", Doc: "Secret ([namespace/]name) with names and hashed passwords.", Risk: Medium, Scope: OfLocation, Want: Object, Bad: DeniesRequest, Secret: true, Protects: passwords},
		{Name: "auth-secret-type", Doc: "auth-file: the Secret's key auth is a password file; auth-map: each key of the Secret is a name.", Risk: Low, Scope: OfLocation, Want: OneOf("auth-file", "auth-map"), Bad: RejectsAll, Protects: passwords},
		{Name: "auth-realm", Doc: "The realm, which browsers show to users.", Risk: Medium, Scope: OfLocation, Want: pattern(`[/\-._~a-zA-Z0-9: ]*`, "letters, digits, spaces and / - . _ ~ :"), Bad: RejectsAll, Protects: Harmless},
	},
	parse: func(r *reader, set *Set) {
		if !r.has("auth-type") {
			return
		}
		set.BasicDigestAuth = BasicDigestAuth{
			Type:       r.text("auth-type", ""),
			Realm:      r.text("auth-realm", ""),
			Secret:     r.reference("auth-secret", false),
			SecretType: r.text("auth-secret-type", "auth-file"),
		}
		if realm := set.BasicDigestAuth.Realm; realm == "off" || strings.Contains(realm, "$") {
			r.bad("auth-realm", "want no variable, and not off, by which nginx asks for no password") // auth_basic, ngx_http_auth_basic_module
		}
		if set.BasicDigestAuth.Secret == "" {
			r.deny("auth-secret", "auth-type needs a Secret")
		}
	},
}
