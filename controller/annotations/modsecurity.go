package annotations

// ModSecurity is a web application firewall in nginx.
type ModSecurity struct {
	Enable        bool
	EnableSet     bool
	OWASPRules    bool
	TransactionID string
	Snippet       string
}
