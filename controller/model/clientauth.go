package model

import (
	"fmt"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/tls"
)

// addClientAuth makes servers verify client certificates. The oldest ingress of a host that asks
// for it decides, even if it is a canary. If its CA certificates cannot be used, all requests to
// the host get 403, because nginx could not verify anybody.
func (b *builder) addClientAuth() {
	for _, ingress := range b.Ingresses {
		if closure := b.Closed[ingress]; closure.ClientCertificates {
			for _, host := range hosts(ingress) {
				if server := b.servers[host]; server != nil && !server.asksForCertificates() {
					server.closed = &closure.Reason
				}
			}
		}
		set := b.annotations(ingress)
		if set.AuthTLS.Secret == "" {
			continue
		}
		auth, err := b.clientAuth(set.AuthTLS)
		for _, host := range hosts(ingress) {
			server := b.servers[host]
			switch {
			case server == nil:
			case server.asksForCertificates() && err == nil:
			case server.asksForCertificates():
				b.find(ingress, b.annotationKey("auth-tls-secret"), "%v; an older ingress of %s decides about client certificates", err, host)
			case err != nil:
				b.find(ingress, b.annotationKey("auth-tls-secret"), "%v; all requests to %s get 403", err, host)
				server.AuthTLSError = err.Error()
				server.CertificateAuth = CertificateAuth{Secret: set.AuthTLS.Secret, AuthTLSError: err.Error()}
			default:
				server.CertificateAuth = auth
			}
		}
	}
}

// asksForCertificates reports whether an ingress has already configured client certificates for the
// host.
func (s *Server) asksForCertificates() bool {
	return s.AuthTLSError != "" || s.CertificateAuth.CAFileName != ""
}

func (b *builder) clientAuth(asked annotations.AuthTLS) (CertificateAuth, error) {
	name := parseName(asked.Secret)
	secret, err := b.secret(name)
	if err == nil && secret.CA == nil {
		err = secret.lacks(tls.AuthorityKey)
	}
	if err == nil && secret.Revocations == nil && len(secret.Data[tls.RevocationKey]) > 0 {
		err = secret.lacks(tls.RevocationKey)
	}
	if err != nil {
		return CertificateAuth{}, fmt.Errorf("Secret %s: %w", name, err)
	}
	auth := CertificateAuth{
		Secret:             asked.Secret,
		CAFileName:         b.file(sslFolder+fileName("ca", name), secret.CA.PEM),
		CASHA:              secret.CA.SHA,
		VerifyClient:       asked.VerifyClient,
		ValidationDepth:    asked.ValidationDepth,
		ErrorPage:          asked.ErrorPage,
		MatchCN:            asked.MatchCN,
		PassCertToUpstream: asked.PassCertToUpstream,
	}
	if secret.Revocations != nil {
		auth.CRLFileName = b.file(sslFolder+fileName("crl", name), secret.Revocations.PEM)
		auth.CRLSHA = secret.Revocations.SHA
	}
	if secret.Pair != nil && b.options.ForeignTemplate {
		auth.PemFileName = b.file(sslFolder+fileName("", name), []byte(secret.Pair.PEM))
	}
	return auth, nil
}
