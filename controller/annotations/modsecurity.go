package annotations

// ModSecurity contains the options of the web application firewall ModSecurity.
type ModSecurity struct {
	Enable        bool
	EnableSet     bool // otherwise the ConfigMap decides
	OWASPRules    bool
	TransactionID string
	Snippet       string
}

var modSecurity = Family{
	Name: "web application firewall",
	Keys: []Key{
		{Name: "enable-modsecurity", Doc: "Enable ModSecurity for the location; the ConfigMap sets the default.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: firewall},
		{Name: "enable-owasp-core-rules", Doc: "Enable the OWASP core rules.", Risk: Low, Scope: OfLocation, Want: Boolean, Bad: RejectsAll, Protects: firewall},
		{Name: "modsecurity-transaction-id", Doc: "ID of a request in ModSecurity's logs; it may contain nginx variables.", Risk: High, Scope: OfLocation, Want: Variable, Protects: Harmless},
		{Name: "modsecurity-snippet", Doc: "ModSecurity rules.", Risk: Critical, Scope: OfLocation, Want: Anything, Protects: firewall},
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
