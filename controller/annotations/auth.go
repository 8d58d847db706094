package annotations

// BasicDigestAuth asks clients for a name and a password.
type BasicDigestAuth struct {
	Type       string // basic or digest; empty is off
	Realm      string
	Secret     string // namespace/name
	SecretType string // auth-file or auth-map
	Secured    bool   // the file is there
	File       string // of names and hashed passwords
	FileSHA    string
}
