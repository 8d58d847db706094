package fault

// CertificateRotation replaces the serving certificate. New handshakes see it, open
// connections live on. With a new CA, clients that know only the old one
// refuse the server until healed; with the old CA there is nothing to heal.
func CertificateRotation(newCA bool) Fault {
	return Fault{Name: "certificate-rotation", Happen: func(t Target, _ Scope) (func(), error) {
		restore, err := t.RotateCertificate(newCA)
		if !newCA {
			restore = func() {}
		}
		return restore, err
	}}
}
