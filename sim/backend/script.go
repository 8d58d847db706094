package backend

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"windtunnel.dev/internal/pki"
)

// Script says what a pod speaks and answers. Its JSON is the same wherever the pod runs. The zero
// Script is an HTTP/1 pod that answers each request with its Description.
type Script struct {
	// Protocol is what the pod speaks, and it speaks nothing else; "" is HTTP.
	Protocol Protocol `json:"protocol,omitempty"`
	// Certificate and Key are the PEM of an https or grpcs pod. Without them it has a certificate
	// that is valid for no host.
	Certificate string `json:"certificate,omitempty"`
	Key         string `json:"key,omitempty"`
	// ClientCA is the PEM of the authorities from which a client must have its certificate. Without
	// it, an https or grpcs pod asks for a certificate, records it, and does not verify it.
	ClientCA string `json:"clientCA,omitempty"`
	// Ports are those on which the pod listens besides its own, for the same protocol.
	Ports []int `json:"ports,omitempty"`
	// Answer is given when no rule matches.
	Answer
	// Rules are other answers: the first rule that matches a request applies.
	Rules []Rule `json:"rules,omitempty"`
}

// Protocol is a protocol that a pod can speak.
type Protocol string

// The protocols of pods.
const (
	HTTP    Protocol = "http"    // HTTP/1.0 and HTTP/1.1, with websockets
	HTTPS   Protocol = "https"   // the same over TLS, and HTTP/2 if the client negotiates it
	GRPC    Protocol = "grpc"    // HTTP/2 without TLS
	GRPCS   Protocol = "grpcs"   // HTTP/2 over TLS
	FastCGI Protocol = "fastcgi" // the responder role of FastCGI 1.0
	Silent  Protocol = "silent"  // accepts connections, and neither reads nor answers
	UDP     Protocol = "udp"     // HTTP/1.1, each request and each answer in a datagram
)

// Rule is an answer to some requests.
type Rule struct {
	// Path is a prefix of the path with its query, as on the wire; "" matches all.
	Path string `json:"path,omitempty"`
	// Method matches all if it is "".
	Method string `json:"method,omitempty"`
	// First limits the rule to this number of requests at each pod, the first ones; 0: no limit.
	First int `json:"first,omitempty"`
	Answer
}

// Answer is what a pod answers. Status, Body and Bytes also replace the answer to a gRPC call and
// to the handshake of a websocket. Without them, a pod answers every gRPC method like AskMethod,
// and echoes the messages of a websocket.
type Answer struct {
	// Status is from 200 to 599; 0 is 200.
	Status int `json:"status,omitempty"`
	// Headers are sent besides those that name the pod. No values remove a header that pods send by
	// default, such as Date.
	Headers map[string][]string `json:"headers,omitempty"`
	// Body is sent as it is; nil is the request's Description.
	Body []byte `json:"body"`
	// Bytes is the length of a generated body, up to 1 GiB; 0: none.
	Bytes int64 `json:"bytes,omitempty"`
	// After is how long the pod waits when it has received the request, in nanoseconds.
	After time.Duration `json:"after,omitempty"`
	// Break ends the connection instead of an answer, when the request has been received.
	Break Break `json:"break,omitempty"`
}

// Break is a way to end a connection.
type Break string

// The ways to end a connection.
const (
	Close Break = "close" // by a FIN
	Reset Break = "reset" // by an RST
)

// maxBytes bounds generated bodies.
const maxBytes = 1 << 30

// Validate returns what is wrong with a script.
func (s Script) Validate() error {
	_, err := s.compile()
	return err
}

// compiled is a script that a pod follows.
type compiled struct {
	Script
	protocol Protocol       // never empty
	tls      *tls.Config    // nil without TLS
	matched  []atomic.Int64 // how many requests each rule has matched
}

func (s Script) compile() (*compiled, error) {
	c := &compiled{Script: s, protocol: cmp.Or(s.Protocol, HTTP), matched: make([]atomic.Int64, len(s.Rules))}
	if !slices.Contains([]Protocol{HTTP, HTTPS, GRPC, GRPCS, FastCGI, Silent, UDP}, c.protocol) {
		return nil, fmt.Errorf("script: no pod speaks %q", s.Protocol)
	}
	for i, port := range s.Ports {
		if port < 1 || port > 65535 || slices.Contains(s.Ports[:i], port) {
			return nil, fmt.Errorf("script: port %d is not valid, or there twice", port)
		}
	}
	if err := s.Answer.validate(); err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	for i, rule := range s.Rules {
		if rule.First < 0 {
			return nil, fmt.Errorf("script: rule %d: first is negative", i+1)
		}
		if err := rule.Answer.validate(); err != nil {
			return nil, fmt.Errorf("script: rule %d: %w", i+1, err)
		}
	}
	var err error
	if c.protocol == HTTPS || c.protocol == GRPCS {
		c.tls, err = s.tlsConfig()
	} else if s.Certificate+s.Key+s.ClientCA != "" {
		err = fmt.Errorf("a pod that speaks %s has no certificates", c.protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("script: %w", err)
	}
	return c, nil
}

func (a Answer) validate() error {
	switch {
	case a.Status != 0 && (a.Status < 200 || a.Status > 599):
		return fmt.Errorf("status %d: want 200 to 599", a.Status)
	case a.Bytes < 0 || a.Bytes > maxBytes:
		return fmt.Errorf("%d generated bytes: want up to %d", a.Bytes, maxBytes)
	case a.Bytes > 0 && a.Body != nil:
		return errors.New("an answer has a body or generated bytes, not both")
	case a.After < 0 || a.After > maxTime:
		return fmt.Errorf("a delay of %v: want up to %v", a.After, maxTime)
	case a.Break != "" && a.Break != Close && a.Break != Reset:
		return fmt.Errorf("break %q: want %s or %s", a.Break, Close, Reset)
	}
	for name, values := range a.Headers {
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("%q is not the name of a header", name)
		}
		if i := slices.IndexFunc(values, func(v string) bool { return !httpguts.ValidHeaderFieldValue(v) }); i >= 0 {
			return fmt.Errorf("header %s: %q is not the value of a header", name, values[i])
		}
	}
	return nil
}

// answerTo returns the answer to a request that has arrived.
func (c *compiled) answerTo(method, path string) *Answer {
	for i := range c.Rules {
		rule := &c.Rules[i]
		if !strings.HasPrefix(path, rule.Path) || rule.Method != "" && rule.Method != method {
			continue
		}
		if n := c.matched[i].Add(1); rule.First == 0 || n <= int64(rule.First) {
			return &rule.Answer
		}
	}
	return &c.Answer
}

// own reports whether the answer replaces the usual answers of gRPC and websockets.
func (a *Answer) own() bool { return a.Status != 0 || a.Body != nil || a.Bytes > 0 }

func (s Script) tlsConfig() (*tls.Config, error) {
	config := &tls.Config{
		MinVersion: tls.VersionTLS10, // the client decides
		ClientAuth: tls.RequestClientCert,
	}
	pair := hostless()
	if s.Certificate+s.Key != "" {
		var err error
		if pair, err = tls.X509KeyPair([]byte(s.Certificate), []byte(s.Key)); err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
	}
	config.Certificates = []tls.Certificate{pair}
	if s.ClientCA != "" {
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		if !config.ClientCAs.AppendCertsFromPEM([]byte(s.ClientCA)) {
			return nil, errors.New("clientCA has no certificate")
		}
	}
	return config, nil
}

// hostless returns a certificate for no host.
func hostless() tls.Certificate {
	issued := pki.New("windtunnel").Issue("windtunnel pod", nil)
	pair, err := tls.X509KeyPair(issued.Certificate, issued.Key)
	if err != nil {
		panic(err) // a new certificate fits its key
	}
	return pair
}

// bodyAllowed reports whether an answer with the status has a body (RFC 9110, section 6.4.1).
func bodyAllowed(status int) bool {
	return status != http.StatusNoContent && status != http.StatusNotModified
}
