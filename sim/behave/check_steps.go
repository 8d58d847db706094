package behave

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"windtunnel.dev/sim/specfile"
)

var (
	httpVersions = []string{"1.0", "1.1", "2"}
	tlsVersions  = []string{"1.0", "1.1", "1.2", "1.3"}
	ocspStatuses = []string{"good", "revoked", "none"}
)

// mostBytes limits a generated body, which stays in memory.
const mostBytes = 1 << 30

func (c *checker) steps() {
	if _, node := c.At.Find("spec", "steps"); len(node.Content) == 0 {
		c.Problem("a case without steps", "add steps: with a request", "spec", "steps")
	}
	asks := false
	for i, step := range c.Steps {
		path := []any{"spec", "steps", i}
		asks = asks || step.Request.Request != ""
		switch actions := step.actions(); {
		case len(actions) == 0:
			c.Problem("a step without an action", "add request:, apply:, delete:, config: or scale:", path...)
			continue
		case len(actions) > 1:
			c.Problem("a step with several actions: "+strings.Join(actions, ", "), "write one step for each", path...)
			continue
		case actions[0] == "request":
			c.request(step.Request, path)
			c.background(i, path)
		default:
			c.change(step, actions[0], path)
		}
		c.about(step, path)
		c.expect(step, step.Expect, below(path, "expect"))
		if step.Bundled != nil {
			c.expect(step, *step.Bundled, below(path, "bundled"))
		}
	}
	checksChange := slices.ContainsFunc(c.Steps, func(s Step) bool {
		return s.Expect.Reload != nil || s.Expect.Rejected != nil || s.Expect.ErrorLog != nil
	})
	if len(c.Steps) > 0 && !asks && !checksChange {
		c.Problem("no step checks anything", "add a request, or expect: to a change", "spec", "steps")
	}
}

// actions returns the names of the actions of a step.
func (s Step) actions() []string {
	var actions []string
	for _, action := range []struct {
		name string
		is   bool
	}{
		{"request", s.Request.Request != ""}, {"apply", s.Apply != ""}, {"delete", s.Delete != ""},
		{"config", s.Config != nil}, {"scale", s.Scale != nil},
	} {
		if action.is {
			actions = append(actions, action.name)
		}
	}
	return actions
}

// change checks a step that is not a request.
func (c *checker) change(step Step, action string, path []any) {
	_, node := c.At.Find(path...)
	for i := 0; i+1 < len(node.Content); i += 2 {
		if key := node.Content[i].Value; !slices.Contains([]string{action, "expect", "bundled"}, key) && slices.Contains(requestFields, key) {
			c.Problem(key+": belongs to a request", "remove it", below(path, key)...)
		}
	}
	if action == "scale" && len(step.Scale) == 0 {
		c.Problem("scale: changes nothing", "write scale: {SERVICE: 2}", below(path, "scale")...)
	}
	for _, service := range sorted(step.Scale) {
		c.service(service, below(path, "scale", service)...)
		if n := step.Scale[service]; n < 0 {
			c.Problem(fmt.Sprintf("%d pods", n), "make it 0 or more", below(path, "scale", service)...)
		}
	}
}

func (c *checker) request(r Request, path []any) {
	target, what, mend := parseTarget(r.Request)
	if what != "" {
		c.Problem(what, mend, below(path, "request")...)
	}
	c.requestHeaders(r, path)
	c.requestBody(r, path)
	c.requestProtocol(r, target, path)
	c.requestOrigin(r, path)
	c.requestPause(r, path)
	switch {
	case r.Times < 0 || r.Times > mostTimes:
		c.Problem(fmt.Sprintf("times: %d", r.Times), fmt.Sprintf("write a number from 1 to %d", mostTimes), below(path, "times")...)
	case r.Times < 2 && r.Together:
		c.Problem("together: needs several requests", "add times: 2 or more", below(path, "together")...)
	case r.Times < 2 && r.KeepAlive:
		c.Problem("keep-alive: needs several requests", "add times: 2 or more", below(path, "keep-alive")...)
	case r.Together && r.KeepAlive:
		c.Problem("both together: and keep-alive:", "keep one of the two", below(path, "keep-alive")...)
	}
	if given(c, path, "times") && r.Times == 0 {
		c.Problem("times: 0", fmt.Sprintf("write a number from 1 to %d", mostTimes), below(path, "times")...)
	}
	if given(c, path, "timeout") && r.Timeout <= 0 || r.Timeout > time.Hour {
		c.Problem(fmt.Sprintf("timeout: %v", r.Timeout), "make it positive, and 1h at most", below(path, "timeout")...)
	}
}

// given reports whether the file has a field.
func given(c *checker, path []any, key string) bool {
	_, node := c.At.Find(below(path, key)...)
	return node.Kind != 0
}

func (c *checker) requestHeaders(r Request, path []any) {
	at := below(path, "headers")
	c.headerNames(sorted(r.Headers), at...)
	for _, name := range sorted(r.Headers) {
		switch strings.ToLower(name) {
		case "host":
			c.Problem("header Host follows from the URL", "write it there; tls.sni is the server name if it is another one", below(at, name)...)
		case "content-length", "transfer-encoding":
			c.Problem("header "+name+" follows from the body", "use body:, bytes: or chunked:", below(at, name)...)
		}
		for _, value := range r.Headers[name] {
			if !httpguts.ValidHeaderFieldValue(value) {
				c.Problem(fmt.Sprintf("header %s: %q has control characters", name, value), "remove them", below(at, name)...)
			}
		}
	}
}

func (c *checker) requestBody(r Request, path []any) {
	switch {
	case r.Bytes < 0 || r.Bytes > mostBytes:
		c.Problem(fmt.Sprintf("%d bytes", r.Bytes), fmt.Sprintf("write a number from 1 to %d", mostBytes), below(path, "bytes")...)
	case r.Body != "" && r.Bytes != 0:
		c.Problem("both body: and bytes:", "keep one of the two", below(path, "bytes")...)
	case r.Chunked && r.Body == "" && r.Bytes == 0:
		c.Problem("chunked: without a body", "add body: or bytes:", below(path, "chunked")...)
	case r.Chunked && r.HTTP != "" && r.HTTP != "1.1":
		c.Problem("chunked: only HTTP/1.1 has chunks", "remove http: or chunked:", below(path, "chunked")...)
	}
}

// background checks a request whose answer comes while other steps run: its receptions and log lines
// cannot be distinguished from theirs.
func (c *checker) background(i int, path []any) {
	step := c.Steps[i]
	if !step.Background {
		return
	}
	if i == len(c.Steps)-1 {
		c.Problem("background: in the last step", "remove it, or add a step", below(path, "background")...)
	}
	for _, field := range []string{"received", "access-log", "error-log"} {
		for _, at := range [][]any{below(path, "expect"), below(path, "bundled")} {
			if given(c, at, field) {
				c.Problem(field+": of a request in the background", "remove it", below(at, field)...)
			}
		}
	}
}

func (c *checker) requestPause(r Request, path []any) {
	if !given(c, path, "pause") {
		return
	}
	at := below(path, "pause")
	pauses := map[string]time.Duration{"connected": r.Pause.Connected, "headers": r.Pause.Headers, "body": r.Pause.Body}
	for _, field := range sorted(pauses) {
		if pause := pauses[field]; given(c, at, field) && (pause <= 0 || pause > time.Hour) {
			c.Problem(fmt.Sprintf("pause: %s: %v", field, pause), "make it positive, and 1h at most", below(at, field)...)
		}
	}
	switch {
	case r.HTTP == "2" || r.GRPC || r.WebSocket:
		c.Problem("pause: belongs to plain requests with HTTP/1", "remove it", at...)
	case r.Pause == (Pause{}):
		c.Problem("pause: says nothing", "add connected:, headers: or body:", at...)
	case r.Pause.Body > 0 && r.Bytes < 2 && len(r.Body) < 2:
		c.Problem("pause: body: without a body of 2 bytes", "add body: or bytes:", below(at, "body")...)
	}
}

func (c *checker) requestProtocol(r Request, target Target, path []any) {
	c.oneOf(r.HTTP, "HTTP version", httpVersions, below(path, "http")...)
	switch {
	case r.GRPC && r.WebSocket:
		c.Problem("both grpc: and websocket:", "keep one of the two", below(path, "websocket")...)
	case r.GRPC && r.HTTP != "" && r.HTTP != "2":
		c.Problem("grpc: needs HTTP/2", "remove http:", below(path, "http")...)
	case r.GRPC && target.Method != "" && target.Method != "POST":
		c.Problem("grpc: calls are POST requests", "write POST "+target.Scheme+"://"+target.Host+target.Path, below(path, "request")...)
	case r.WebSocket && r.HTTP != "" && r.HTTP != "1.1":
		c.Problem("websocket: needs HTTP/1.1", "remove http:", below(path, "http")...)
	case r.WebSocket && target.Method != "" && target.Method != "GET":
		c.Problem("websocket: begins with a GET request", "write GET", below(path, "request")...)
	case r.UDP && r.Port == 0:
		c.Problem("udp: without a port", "add port:, one of a UDP service", below(path, "udp")...)
	case r.UDP && (target.Scheme == "https" || r.HTTP != "" && r.HTTP != "1.1" || r.GRPC || r.WebSocket || r.KeepAlive || r.Proxy != nil):
		c.Problem("udp: belongs to plain requests with HTTP/1.1", "write an http URL, and remove http, grpc, websocket, keep-alive and proxy", below(path, "udp")...)
	}
	if given(c, path, "tls") {
		c.requestTLS(r.TLS, target, below(path, "tls"))
	}
}

func (c *checker) requestTLS(t ClientTLS, target Target, at []any) {
	if target.Scheme == "http" {
		c.Problem("tls: with an http URL", "write https, or remove tls", at...)
	}
	c.oneOf(t.Min, "TLS version", tlsVersions, below(at, "min")...)
	c.oneOf(t.Max, "TLS version", tlsVersions, below(at, "max")...)
	if t.Min != "" && t.Max != "" && t.Min > t.Max {
		c.Problem(fmt.Sprintf("tls: min %s is above max %s", t.Min, t.Max), "swap the two", at...)
	}
	if t.Certificate != "" {
		c.certificateNamed(t.Certificate, false, below(at, "certificate")...)
	}
	for i, cipher := range t.Ciphers {
		if !slices.Contains(cipherNames(), cipher) {
			what, mend := specfile.Unknown("cipher suite", cipher, cipherNames(), "Go's package crypto/tls lists them")
			c.Problem(what, mend, below(at, "ciphers", i)...)
		}
	}
}

// cipherNames returns the names of the cipher suites that clients can choose, which are those of
// TLS 1.2 and older.
func cipherNames() []string {
	var names []string
	for _, suite := range append(tls.CipherSuites(), tls.InsecureCipherSuites()...) {
		if suite.SupportedVersions[0] < tls.VersionTLS13 {
			names = append(names, suite.Name)
		}
	}
	return names
}

// loopback are the addresses that a client can have.
var loopback = netip.MustParsePrefix("127.0.0.0/8")

func (c *checker) requestOrigin(r Request, path []any) {
	if given(c, path, "port") && (r.Port < 1 || r.Port > 65535) {
		c.Problem(fmt.Sprintf("port: %d", r.Port), "write one from 1 to 65535", below(path, "port")...)
	}
	if r.From != "" {
		from, err := netip.ParseAddr(r.From)
		switch {
		case err != nil || !loopback.Contains(from) && from != netip.IPv6Loopback():
			c.Problem(fmt.Sprintf("from: %q is not an address of this machine's loopback", r.From), "write one of 127.0.0.0/8, or ::1", below(path, "from")...)
		case from.Is6() != r.IPv6:
			c.Problem("from: "+r.From+" and ipv6: cannot be combined", "use ::1 with ipv6: true, and 127.0.0.0/8 without", below(path, "from")...)
		}
	}
	if r.Proxy == nil {
		return
	}
	at := below(path, "proxy")
	if r.Proxy.Version < 0 || r.Proxy.Version > 2 {
		c.Problem(fmt.Sprintf("version %d of the PROXY header", r.Proxy.Version), "write 1 or 2", below(at, "version")...)
	}
	source := c.addrPort(r.Proxy.Source, below(at, "source"))
	destination := c.addrPort(r.Proxy.Destination, below(at, "destination"))
	if source.IsValid() && destination.IsValid() && source.Addr().Is4() != destination.Addr().Is4() {
		c.Problem("proxy: one address is IPv4, the other IPv6", "use the same for both", at...)
	}
}

func (c *checker) addrPort(text string, path []any) netip.AddrPort {
	parsed, err := netip.ParseAddrPort(text)
	if err != nil {
		c.Problem(fmt.Sprintf("%v: %q is not an address with a port", path[len(path)-1], text), "write it as 203.0.113.7:1234", path...)
	}
	return parsed
}
