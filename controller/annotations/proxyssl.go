package annotations

// ProxySSL is how pods are spoken to over TLS.
type ProxySSL struct {
	Secret             string // namespace/name; empty: none of the rest holds
	Ciphers            string
	Protocols          string
	ProxySSLName       string
	Verify             string // on or off
	VerifyDepth        int
	ProxySSLServerName string // on or off
}
