package annotations

// SSL is TLS towards clients.
type SSL struct {
	Ciphers             string // empty leaves the ConfigMap's
	PreferServerCiphers string // on, off, or empty for nginx's own
}

var ssl = Family{
	Name: "TLS to clients",
	Keys: []Key{
		{Name: "ssl-ciphers", Doc: "Cipher suites of the host up to TLS 1.2.", Risk: Low, Scope: OfServer, Want: ciphers, Bad: RejectsAll},
		{Name: "ssl-prefer-server-ciphers", Doc: "Prefer the server's order of ciphers to the client's.", Risk: Low, Scope: OfServer, Want: Boolean},
	},
	parse: func(r *reader, set *Set) {
		set.SSL.Ciphers = r.text("ssl-ciphers", "")
		if prefer := r.choice("ssl-prefer-server-ciphers"); prefer != nil {
			set.SSL.PreferServerCiphers = onOff(*prefer)
		}
	},
}

// onOff is a flag as nginx writes it.
func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
