package annotations

// SSL is TLS towards clients.
type SSL struct {
	Ciphers             string
	PreferServerCiphers string // on, off, or empty for nginx's own
}
