package annotations

// SSL contains the TLS options for client connections.
type SSL struct {
	Ciphers             string // empty: those of the ConfigMap
	PreferServerCiphers string // on, off; empty: nginx's default
}

var ssl = Family{
	Name: "TLS to clients",
	Keys: []Key{
		{Name: "ssl-ciphers", Doc: "Cipher suites of the host up to TLS 1.2.", Risk: Low, Scope: OfServer, Want: ciphers, Bad: RejectsAll, Protects: clientTLS},
		{Name: "ssl-prefer-server-ciphers", Doc: "Prefer the server's order of ciphers to the client's.", Risk: Low, Scope: OfServer, Want: Boolean, Protects: clientTLS},
	},
	parse: func(r *reader, set *Set) {
		set.SSL.Ciphers = r.text("ssl-ciphers", "")
		if prefer := r.choice("ssl-prefer-server-ciphers"); prefer != nil {
			set.SSL.PreferServerCiphers = onOff(*prefer)
		}
	},
}

// onOff returns a flag in nginx's notation.
func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
