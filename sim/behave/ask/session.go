package ask

import (
	"crypto/tls"
	"fmt"
	"slices"

	"golang.org/x/crypto/ocsp"

	"windtunnel.dev/sim/behave"
)

// versions are the versions of TLS by their names in cases.
var versions = map[string]uint16{
	"1.0": tls.VersionTLS10, "1.1": tls.VersionTLS11, "1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13,
}

// setTLS computes the TLS configuration of the client. The server's certificate is not verified,
// only recorded. Unless the target has Sessions, sessions are kept only between the connections of
// one call, because a resumed session shows the certificate of its first handshake.
func (c *call) setTLS(to Target, r behave.Request) error {
	want := r.TLS
	if c.scheme != "https" {
		if want.SNI+want.Certificate+want.Min+want.Max != "" || len(want.Ciphers) > 0 {
			return fmt.Errorf("tls is for https URLs")
		}
		return nil
	}
	config := &tls.Config{InsecureSkipVerify: true, ClientSessionCache: to.Sessions}
	if config.ClientSessionCache == nil {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	switch want.SNI {
	case "-":
	case "":
		config.ServerName = hostOf(c.authority)
	default:
		config.ServerName = want.SNI
	}
	switch c.version { // a client of HTTP/1.0 knows no ALPN
	case "2":
		config.NextProtos = []string{"h2", "http/1.1"}
	case "1.1":
		config.NextProtos = []string{"http/1.1"}
	}
	var err error
	if config.MinVersion, err = versionNamed(want.Min); err != nil {
		return err
	}
	if config.MaxVersion, err = versionNamed(want.Max); err != nil {
		return err
	}
	// By default, Go's client offers no version below 1.2.
	if config.MinVersion == 0 && config.MaxVersion != 0 && config.MaxVersion < tls.VersionTLS12 {
		config.MinVersion = tls.VersionTLS10
	}
	if config.MaxVersion != 0 && config.MinVersion > config.MaxVersion {
		return fmt.Errorf("tls: min %s is above max %s", want.Min, want.Max)
	}
	if config.CipherSuites, err = suitesNamed(want.Ciphers); err != nil {
		return err
	}
	if want.Certificate != "" {
		certificate, known := to.Certificates[want.Certificate]
		if !known {
			return fmt.Errorf("tls: there is no certificate %s", want.Certificate)
		}
		// The client presents it even if the server asks for those of other authorities.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &certificate, nil }
	}
	c.tls = config
	c.nameOf = func(s *tls.ConnectionState) string {
		leaf := s.PeerCertificates[0]
		if to.NameOf != nil {
			if name := to.NameOf(leaf); name != "" {
				return name
			}
		}
		return leaf.Subject.String()
	}
	return nil
}

func versionNamed(name string) (uint16, error) {
	version, known := versions[name]
	if !known && name != "" {
		return 0, fmt.Errorf("tls: version %q: want 1.0, 1.1, 1.2 or 1.3", name)
	}
	return version, nil
}

func suitesNamed(names []string) ([]uint16, error) {
	var ids []uint16
	all := append(tls.CipherSuites(), tls.InsecureCipherSuites()...)
	for _, name := range names {
		i := slices.IndexFunc(all, func(s *tls.CipherSuite) bool { return s.Name == name })
		switch {
		case i < 0:
			return nil, fmt.Errorf("tls: Go has no cipher suite %s", name)
		case !slices.Contains(all[i].SupportedVersions, tls.VersionTLS12):
			return nil, fmt.Errorf("tls: cipher suite %s: those of TLS 1.3 cannot be chosen", name)
		}
		ids = append(ids, all[i].ID)
	}
	return ids, nil
}

// stapled returns the status in a stapled OCSP response. It does not verify the signature.
func stapled(response []byte) string {
	if len(response) == 0 {
		return "none"
	}
	parsed, err := ocsp.ParseResponse(response, nil)
	if err != nil {
		return "unknown"
	}
	return map[int]string{ocsp.Good: "good", ocsp.Revoked: "revoked", ocsp.Unknown: "unknown"}[parsed.Status]
}

// sessionOf describes a completed handshake.
func (c *call) sessionOf(s *tls.ConnectionState) *behave.Session {
	session := &behave.Session{
		Cipher: tls.CipherSuiteName(s.CipherSuite), Protocol: s.NegotiatedProtocol,
		Certificate: c.nameOf(s), Chain: len(s.PeerCertificates), Resumed: s.DidResume,
		OCSP: stapled(s.OCSPResponse),
	}
	if s.CurveID != 0 {
		session.Curve = s.CurveID.String()
	}
	for name, version := range versions {
		if version == s.Version {
			session.Version = name
		}
	}
	return session
}
