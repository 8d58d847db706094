package annotations

// ModSecurity is a web application firewall in nginx.
type ModSecurity struct {
	Enable        bool
	EnableSet     bool // else the ConfigMap says
	OWASPRules    bool
	TransactionID string
	Snippet       string
}

var modSecurity = Family{
	Name: "web application firewall",
	Keys: []Key{
		{Name: "enable-modsecurity", Doc: "ModSecurity for the location; the ConfigMap says for all.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll},
		{Name: "enable-owasp-core-rules", Doc: "With the OWASP core rules.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll},
		{Name: "modsecurity-transaction-id", Doc: "Name of a request in its logs: nginx variables and text.", Risk: High, Scope: OfLocation, Want: Variable},
		{Name: "modsecurity-snippet", Doc: "Rules of ModSecurity.", Risk: Critical, Scope: OfLocation, Want: Anything},
	},
	parse: func(r *reader, set *Set) {
		set.ModSecurity = ModSecurity{
			OWASPRules:    r.flag("enable-owasp-core-rules", false),
			TransactionID: r.text("modsecurity-transaction-id", ""),
			Snippet:       r.snippet("modsecurity-snippet"),
		}
		if on := r.choice("enable-modsecurity"); on != nil {
			set.ModSecurity.EnableSet, set.ModSecurity.Enable = true, *on
		}
	},
}
