// Package behave defines behaviour cases: requests to an ingress controller, and what must hold of
// the answers. It reads case files, and judges recorded exchanges. Its one rule: it is pure. It
// sends no request; sim/behave/run does, and records what it saw.
package behave

import (
	"time"

	"windtunnel.dev/sim/specfile"
)

// APIVersion and Kind are the apiVersion and kind of the first document of a case file.
const (
	APIVersion = "windtunnel.dev/v1"
	Kind       = "Case"
)

// Names with a meaning of their own in case files.
const (
	None              = "none"       // as a service: no pod answered
	Default           = "default"    // as a certificate: the controller's own
	NoSecret          = "-"          // as the namespace of a certificate: no Secret
	NoSNI             = "-"          // as a server name: none
	DifferencesPrefix = "compat.md#" // in differs: before the name of a row
	FieldPrefix       = "field/"     // in about: before the name of a field of ingresses
)

// Ignored, as a prefix of the name of a ConfigMap key, makes a key that no controller reads. A run
// still reads logs at the paths that the key without the prefix names. Case files cannot have such
// keys: they show what happens if a controller ignores the key.
const Ignored = "windtunnel-ignored."

// Fields are the fields of ingresses that a step can be about.
var Fields = []string{"backend", "defaultBackend", "host", "path", "pathType", "tls"}

// Case is a case file: a controller's settings, pods, requests in order, and what must hold of
// each answer. The other documents of the file are Kubernetes manifests.
type Case struct {
	// Name is the path of the file below its root, without the extension: redirects/app-root.
	Name string
	File string
	Spec
	Manifests []Manifest
}

// Spec is the spec of a case file. Editors show the field comments as descriptions, through
// docs/case.schema.json.
type Spec struct {
	// One sentence: what the controller does.
	Summary string `yaml:"summary" jsonschema:"required"`
	// The annotations, ConfigMap keys and flags that the case is about: annotation/rewrite-target, config/use-gzip, flag/default-backend-service. A suffix says what the case shows of the setting: =default the behaviour when it is not set; =bad an invalid value; =edge a value at an edge of the valid ones, such as the smallest, or with an unusual spelling; =scope what else it applies to: other paths, other ingresses of the host, aliases.
	Covers []string `yaml:"covers,omitempty"`
	// Those annotations in covers that make the controller reject the ingress. Set on a running controller, they change nothing, because the earlier version of the ingress stays.
	Earlier []string `yaml:"earlier,omitempty"`
	// The row of docs/compat.md that documents this difference between the bundled controller and ingress-nginx: compat.md#ROW. Expectations hold for ingress-nginx; those in bundled replace them for the bundled controller.
	Differs string `yaml:"differs,omitempty"`
	// What nginx or the machine must have, such as module/http_modsecurity, ipv6. Where it is missing, the case is skipped with this reason.
	Needs []string `yaml:"needs,omitempty"`
	// Flags of the controller, without the leading dashes.
	Flags map[string]string `yaml:"flags,omitempty"`
	// Keys of the controller's ConfigMap.
	Config map[string]string `yaml:"config,omitempty"`
	// The services whose pods answer, by name. Each is created with port 80, unless the file has a manifest of a Service with this name.
	Pods map[string]Pods `yaml:"pods,omitempty"`
	// Secrets with a new certificate, by name.
	Certificates map[string]Certificate `yaml:"certificates,omitempty"`
	// Requests and changes, in order.
	Steps []Step `yaml:"steps" jsonschema:"required"`
}

// Pods are the pods of a service.
type Pods struct {
	// The number of pods.
	Replicas *int `yaml:"replicas,omitempty" jsonschema:"default=1,minimum=0"`
	// The zones that the pods are for, in turn, as topology hints. The controller of a local subject runs in the zone here.
	Zones []string `yaml:"zones,omitempty"`
	// What the pods speak; silent pods accept connections, and neither read nor answer. udp pods answer requests with the field udp.
	Protocol string `yaml:"protocol,omitempty" jsonschema:"default=http,enum=http,enum=https,enum=grpc,enum=grpcs,enum=fastcgi,enum=silent,enum=udp"`
	// The certificate of https and grpcs pods, by its name in certificates. Default: one for no host.
	Certificate string `yaml:"certificate,omitempty"`
	// The certificate authority that client certificates of https and grpcs pods must come from, by its name in certificates. Default: none is asked for.
	ClientCA string `yaml:"client-ca,omitempty"`
	// What the pods answer, unless a rule matches. Default: status 200 and a description of the request as JSON.
	Answer `yaml:",inline"`
	// Other answers, by path. The first rule that matches applies.
	Rules []Rule `yaml:"rules,omitempty"`
}

// Rule is an answer to some requests.
type Rule struct {
	// Applies to paths that begin with this text, as the pod receives them.
	Path string `yaml:"path,omitempty"`
	// Applies to this method only.
	Method string `yaml:"method,omitempty"`
	// Limits the rule to this number of requests at each pod, the first ones.
	First  int `yaml:"first,omitempty" jsonschema:"minimum=1"`
	Answer `yaml:",inline"`
}

// Answer is what a pod answers.
type Answer struct {
	// The status.
	Status int `yaml:"status,omitempty" jsonschema:"default=200,minimum=100,maximum=599"`
	// The headers of the answer, besides those that name the pod. A list is sent as several headers.
	Headers map[string]Values `yaml:"headers,omitempty"`
	// The body. Default: a description of the request as JSON.
	Body *string `yaml:"body,omitempty"`
	// The number of bytes of a generated body.
	Bytes int64 `yaml:"bytes,omitempty" jsonschema:"minimum=1"`
	// How long the pod waits before it answers.
	After time.Duration `yaml:"after,omitempty"`
	// How the pod breaks the connection instead of answering: close, or reset.
	Break string `yaml:"break,omitempty" jsonschema:"enum=close,enum=reset"`
}

// Certificate is a certificate that the run generates, in a Secret with tls.crt, tls.key and, with
// an authority, ca.crt.
type Certificate struct {
	// The DNS names and addresses that it is valid for.
	Hosts []string `yaml:"hosts,omitempty,flow"`
	// The common name of its subject. Default: the first host, or its name.
	CommonName string `yaml:"common-name,omitempty"`
	// Makes a certificate authority; its Secret has ca.crt, and ca.crl with revokes.
	Authority bool `yaml:"authority,omitempty"`
	// The certificates that the authority has revoked, by their names in certificates: its Secret has ca.crl as well.
	Revokes []string `yaml:"revokes,omitempty"`
	// The authority that signs it, by its name in certificates. Default: itself. Clients and pods also present the intermediate authorities; the Secret does not contain them.
	SignedBy string `yaml:"signed-by,omitempty"`
	// Names the URL of its authority's certificate (caIssuers), which the run serves on this machine.
	CAIssuers bool `yaml:"ca-issuers,omitempty"`
	// Names an OCSP responder, which the run serves on this machine. It says that the certificate is good, unless its authority revokes it.
	OCSP bool `yaml:"ocsp,omitempty"`
	// How long it is valid, from now. A negative duration makes an expired certificate.
	Valid time.Duration `yaml:"valid,omitempty" jsonschema:"default=24h"`
	// The algorithm of its key.
	Key string `yaml:"key,omitempty" jsonschema:"default=ecdsa,enum=ecdsa,enum=rsa"`
	// The namespace of the Secret. Default: that of the case. Use - to create no Secret, for a client's certificate.
	Namespace string `yaml:"namespace,omitempty"`
}

// Step is a request, or a change. It has exactly one of request, apply, delete, config and scale.
// After a change, the run waits until the change is live.
type Step struct {
	Request `yaml:",inline"`
	// Creates or updates the manifests with this name.
	Apply string `yaml:"apply,omitempty"`
	// Deletes the manifests with this name.
	Delete string `yaml:"delete,omitempty"`
	// Replaces the keys of the controller's ConfigMap by those of the case and these.
	Config map[string]string `yaml:"config,omitempty"`
	// Changes the number of pods, by service.
	Scale map[string]int `yaml:"scale,omitempty"`
	// What the step asks about, as in covers, or a field of ingresses: annotation/rewrite-target, field/pathType. Reports name it as the cause of a failure.
	About []string `yaml:"about,omitempty,flow"`
	// What must hold.
	Expect Expect `yaml:"expect,omitempty"`
	// What the bundled controller answers instead, in a case that differs.
	Bundled *Expect `yaml:"bundled,omitempty"`

	Line int `yaml:"-"` // in the file, from 1
}

// Request is a request that a client sends.
type Request struct {
	// Method and URL: GET https://shop.example/cart?x=1. The path is sent as written. A port in the URL is sent in the Host header; the connection goes to the controller.
	Request string `yaml:"request,omitempty"`
	// The headers, besides Host and User-Agent. A list is sent as several headers; null removes a default one.
	Headers map[string]Values `yaml:"headers,omitempty"`
	// The body.
	Body string `yaml:"body,omitempty"`
	// The size of a generated body, in bytes.
	Bytes int64 `yaml:"bytes,omitempty" jsonschema:"minimum=1"`
	// The version of HTTP. Version 2 with an http URL is HTTP/2 without TLS (h2c).
	HTTP string `yaml:"http,omitempty" jsonschema:"default=1.1,enum=1.0,enum=1.1,enum=2"`
	// Sends the body in chunks, without its length.
	Chunked bool `yaml:"chunked,omitempty"`
	// Calls a gRPC method that echoes, instead of sending an HTTP request; the URL has the service and the method.
	GRPC bool `yaml:"grpc,omitempty"`
	// Opens a WebSocket, sends the body as one message and reads one.
	WebSocket bool `yaml:"websocket,omitempty"`
	// Sends the HTTP request as one UDP datagram, and reads the answer from one. Belongs to requests with port.
	UDP bool `yaml:"udp,omitempty"`
	// How the client connects through TLS, with https URLs.
	TLS ClientTLS `yaml:"tls,omitempty"`
	// The client's address, from 127.0.0.0/8 or ::1. Only local subjects see it.
	From string `yaml:"from,omitempty"`
	// Connects to this port of the controller, such as one of a TCP service. Default: that of HTTP or HTTPS, by the URL. Only local subjects have such ports.
	Port int `yaml:"port,omitempty" jsonschema:"minimum=1,maximum=65535"`
	// Connects over IPv6.
	IPv6 bool `yaml:"ipv6,omitempty"`
	// Sends a PROXY header before everything else.
	Proxy *Proxy `yaml:"proxy,omitempty"`
	// Where the client pauses while it sends the request, and how long.
	Pause Pause `yaml:"pause,omitempty"`
	// Goes on with the next steps when a pod has received the request. Its answer is checked at the end.
	Background bool `yaml:"background,omitempty"`
	// How often the request is sent, one after another.
	Times int `yaml:"times,omitempty" jsonschema:"default=1,minimum=1"`
	// Sends them at the same time, each over its own connection.
	Together bool `yaml:"together,omitempty"`
	// Uses one connection for all of them.
	KeepAlive bool `yaml:"keep-alive,omitempty"`
	// Sends the cookies that earlier requests with the same jar received, and keeps new ones.
	Jar string `yaml:"jar,omitempty"`
	// How long the client waits for the answer.
	Timeout time.Duration `yaml:"timeout,omitempty" jsonschema:"default=10s"`
}

// ClientTLS is how a client connects through TLS.
type ClientTLS struct {
	// The server name. Default: the host of the URL. Use - to send none.
	SNI string `yaml:"sni,omitempty"`
	// The client's certificate, by its name in certificates.
	Certificate string `yaml:"certificate,omitempty"`
	// The oldest version of TLS.
	Min string `yaml:"min,omitempty" jsonschema:"enum=1.0,enum=1.1,enum=1.2,enum=1.3"`
	// The newest version of TLS.
	Max string `yaml:"max,omitempty" jsonschema:"enum=1.0,enum=1.1,enum=1.2,enum=1.3"`
	// The only cipher suites that the client offers for TLS 1.2, by their names in Go.
	Ciphers []string `yaml:"ciphers,omitempty"`
}

// Proxy is a PROXY protocol header.
type Proxy struct {
	// The version of the header.
	Version int `yaml:"version,omitempty" jsonschema:"default=1,enum=1,enum=2"`
	// The address and port of the client: 203.0.113.7:1234.
	Source string `yaml:"source" jsonschema:"required"`
	// The address and port that the client connected to.
	Destination string `yaml:"destination" jsonschema:"required"`
}

// Pause is where a client pauses while it sends a request with HTTP/1, and how long.
type Pause struct {
	// When the connection is open, before anything is sent.
	Connected time.Duration `yaml:"connected,omitempty"`
	// Before the blank line that ends the headers.
	Headers time.Duration `yaml:"headers,omitempty"`
	// In the middle of the body.
	Body time.Duration `yaml:"body,omitempty"`
}

// Manifest is a Kubernetes object of a case file. A manifest that is Named is applied by a step, and
// all others before the first step.
type Manifest = specfile.Manifest

// Named returns the manifests with a name, in the order in which a step applies them.
func (c *Case) Named(name string) []Manifest {
	var named []Manifest
	for _, m := range c.Manifests {
		if m.Name == name {
			named = append(named, m)
		}
	}
	return named
}
