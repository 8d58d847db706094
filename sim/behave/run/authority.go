package run

import (
	"crypto"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"golang.org/x/crypto/ocsp"

	"windtunnel.dev/sim/behave"
)

// The paths of an authorityServer: before the name of an authority, for its certificate, and before
// the name of a certificate, for its status.
const (
	issuerPath = "/issuer/"
	ocspPath   = "/ocsp/"
)

const largestOCSPRequest = 64 << 10 // bytes

// authorityServer serves what the certificates of a case refer to: the certificates of authorities
// (RFC 5280, 4.2.2.1), and OCSP (RFC 6960).
type authorityServer struct {
	listener     net.Listener
	server       *http.Server
	certificates map[string]issued
}

// listenForAuthorities opens the listener of the URLs in certificates, if any names one. serve answers
// the requests.
func listenForAuthorities(certificates map[string]behave.Certificate) (*authorityServer, error) {
	needed := false
	for _, spec := range certificates {
		needed = needed || spec.CAIssuers || spec.OCSP
	}
	if !needed {
		return nil, nil
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(loopback, "0"))
	if err != nil {
		return nil, fmt.Errorf("listen for requests about certificates: %w", err)
	}
	return &authorityServer{listener: listener}, nil
}

// url returns a URL of the server, or "" if there is no server.
func (a *authorityServer) url(path string) string {
	if a == nil {
		return ""
	}
	return "http://" + a.listener.Addr().String() + path
}

// serve starts to answer requests.
func (a *authorityServer) serve(certificates map[string]issued) {
	if a == nil {
		return
	}
	a.certificates = certificates
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+issuerPath+"{name}", a.issuer)
	mux.HandleFunc("POST "+ocspPath+"{name}", a.status)
	a.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go a.server.Serve(a.listener)
}

func (a *authorityServer) close() error {
	switch {
	case a == nil:
		return nil
	case a.server == nil:
		return a.listener.Close()
	}
	return a.server.Close()
}

// issuer answers with the certificate of an authority, in DER.
func (a *authorityServer) issuer(w http.ResponseWriter, r *http.Request) {
	authority, ok := a.certificates[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/pkix-cert")
	w.Write(authority.Leaf.Raw)
}

// status answers an OCSP request: the certificate is good unless its authority has revoked it.
func (a *authorityServer) status(w http.ResponseWriter, r *http.Request) {
	response, err := a.ocspResponse(r.PathValue("name"), r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/ocsp-response")
	w.Write(response)
}

func (a *authorityServer) ocspResponse(name string, body io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(body, largestOCSPRequest))
	if err != nil {
		return nil, err
	}
	request, err := ocsp.ParseRequest(text)
	if err != nil {
		return nil, err
	}
	certificate, ok := a.certificates[name]
	if !ok || certificate.Leaf.SerialNumber.Cmp(request.SerialNumber) != 0 {
		return nil, errors.New("a request about another certificate")
	}
	authority := a.certificates[certificate.spec.SignedBy]
	now := time.Now()
	answer := ocsp.Response{
		Status: ocsp.Good, SerialNumber: request.SerialNumber,
		ThisUpdate: now.Add(-time.Hour), NextUpdate: now.Add(defaultValidity),
	}
	if slices.Contains(authority.spec.Revokes, name) {
		answer.Status, answer.RevokedAt = ocsp.Revoked, answer.ThisUpdate
	}
	return ocsp.CreateResponse(authority.Leaf, authority.Leaf, answer, authority.PrivateKey.(crypto.Signer))
}

// references are the URLs that a certificate names.
func (a *authorityServer) references(name string, spec behave.Certificate) (issuers, responders []string) {
	if spec.CAIssuers {
		issuers = []string{a.url(issuerPath + spec.SignedBy)}
	}
	if spec.OCSP {
		responders = []string{a.url(ocspPath + name)}
	}
	return issuers, responders
}
