package ask

import (
	"bytes"
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/sim/behave"
)

// defaultTimeout is the default of behave.Request.Timeout.
const defaultTimeout = 10 * time.Second

// call is a request that was checked against its target: everything that is needed to send it.
type call struct {
	line
	version   string // as in behave.Request.HTTP
	fields    []field
	body      func() io.Reader
	hasBody   bool
	length    int64 // of the body
	chunked   bool
	grpc      bool
	webSocket bool
	udp       bool
	keepAlive bool
	timeout   time.Duration
	pause     behave.Pause

	address netip.AddrPort
	from    netip.Addr // invalid: the kernel chooses
	proxy   []byte     // the PROXY header
	tls     *tls.Config
	nameOf  func(*tls.ConnectionState) string
	jar     http.CookieJar // nil for none
}

// field is a line of a request's header.
type field struct{ name, value string }

func (f field) is(name string) bool { return strings.EqualFold(f.name, name) }

func newCall(to Target, r behave.Request) (*call, error) {
	l, err := parseLine(r.Request)
	if err != nil {
		return nil, err
	}
	c := &call{
		line: l, version: cmp.Or(r.HTTP, "1.1"), chunked: r.Chunked, grpc: r.GRPC, webSocket: r.WebSocket, udp: r.UDP,
		keepAlive: r.KeepAlive, timeout: cmp.Or(r.Timeout, defaultTimeout), pause: r.Pause,
	}
	if r.GRPC {
		c.version = "2"
	}
	for _, check := range []func(Target, behave.Request) error{
		checkCombination, c.setBody, c.setFields, c.setAddress, c.setProxy, c.setTLS, c.setJar,
	} {
		if err := check(to, r); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func checkCombination(_ Target, r behave.Request) error {
	for _, wrong := range []struct {
		is   bool
		text string
	}{
		{!slices.Contains([]string{"", "1.0", "1.1", "2"}, r.HTTP), fmt.Sprintf("http %q: want 1.0, 1.1 or 2", r.HTTP)},
		{r.GRPC && r.HTTP != "" && r.HTTP != "2", "grpc needs HTTP/2"},
		{r.GRPC && r.WebSocket, "grpc and websocket exclude each other"},
		{r.GRPC && r.Chunked, "grpc and chunked exclude each other"},
		{r.WebSocket && r.HTTP != "" && r.HTTP != "1.1", "websocket needs HTTP/1.1"},
		{r.WebSocket && r.KeepAlive, "websocket and keep-alive exclude each other"},
		{r.WebSocket && r.Chunked, "websocket and chunked exclude each other"},
		{r.UDP && (r.HTTP == "2" || r.GRPC || r.WebSocket || r.KeepAlive || r.Proxy != nil || strings.Contains(r.Request, "https:")), "udp needs a plain request with HTTP/1"},
		{r.Together && r.KeepAlive, "together and keep-alive exclude each other"},
		{r.Body != "" && r.Bytes != 0, "body and bytes exclude each other"},
		{r.Pause != (behave.Pause{}) && (r.HTTP == "2" || r.GRPC || r.WebSocket), "pause needs HTTP/1 without websocket"},
		{r.Bytes < 0, "bytes is negative"},
		{r.Times < 0, "times is negative"},
		{r.Timeout < 0, "timeout is negative"},
	} {
		if wrong.is {
			return errors.New(wrong.text)
		}
	}
	return nil
}

func (c *call) setBody(_ Target, r behave.Request) error {
	c.length = int64(len(r.Body)) + r.Bytes
	c.hasBody = c.length > 0 || r.Chunked
	c.body = func() io.Reader { return strings.NewReader(r.Body) }
	if r.Bytes > 0 {
		c.body = func() io.Reader { return io.LimitReader(pattern{}, r.Bytes) }
	}
	if !r.GRPC {
		return nil
	}
	content, err := io.ReadAll(c.body())
	if err != nil {
		return err
	}
	message, err := grpcMessage(content)
	c.hasBody, c.length = true, int64(len(message))
	c.body = func() io.Reader { return bytes.NewReader(message) }
	return err
}

// pattern is an endless body.
type pattern struct{}

func (pattern) Read(b []byte) (int, error) {
	const text = "0123456789abcdef"
	n := 0
	for n < len(b) {
		n += copy(b[n:], text)
	}
	return n, nil
}

// setFields computes the header: the default fields unless the case names them, then those of the
// case by name. Besides Host, User-Agent and Accept, it has only the fields without which the
// request cannot be read: the length of the body, and those that gRPC and WebSocket require.
func (c *call) setFields(_ Target, r behave.Request) error {
	defaults := []field{{"Host", c.authority}, {"User-Agent", "windtunnel"}}
	switch {
	case c.grpc: // gRPC over HTTP/2, "Requests"
		defaults = append(defaults, field{"TE", "trailers"}, field{"Content-Type", "application/grpc"})
	default:
		defaults = append(defaults, field{"Accept", "*/*"})
	}
	switch {
	case c.webSocket: // RFC 6455, section 4.1; upgrade fills in the key
		defaults = append(defaults, field{"Connection", "Upgrade"}, field{"Upgrade", "websocket"},
			field{"Sec-WebSocket-Version", "13"}, field{"Sec-WebSocket-Key", ""})
	case c.chunked:
		defaults = append(defaults, field{"Transfer-Encoding", "chunked"})
	case c.hasBody:
		defaults = append(defaults, field{"Content-Length", strconv.FormatInt(c.length, 10)})
	}
	names := slices.Sorted(maps.Keys(r.Headers))
	for _, f := range defaults {
		if !slices.ContainsFunc(names, f.is) {
			c.fields = append(c.fields, f)
		}
	}
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, ":\r\n\x00") {
			return fmt.Errorf("header %q: not the name of a header", name)
		}
		for _, value := range r.Headers[name] {
			if strings.ContainsAny(value, "\r\n\x00") {
				return fmt.Errorf("header %s: %q has a line break or a null byte", name, value)
			}
			c.fields = append(c.fields, field{name, value})
		}
	}
	if c.version == "2" {
		return c.checkFields2(r.Headers)
	}
	return nil
}

func (c *call) setAddress(to Target, r behave.Request) error {
	listeners := map[string]netip.AddrPort{"http": to.HTTP, "https": to.HTTPS}
	family := "IPv4"
	if r.IPv6 {
		listeners = map[string]netip.AddrPort{"http": to.HTTP6, "https": to.HTTPS6}
		family = "IPv6"
	}
	c.address = listeners[c.scheme]
	if !c.address.IsValid() {
		return fmt.Errorf("the controller has no %s listener for %s", family, c.scheme)
	}
	if r.Port != 0 {
		c.address = netip.AddrPortFrom(c.address.Addr(), uint16(r.Port))
	}
	if r.From == "" {
		return nil
	}
	from, err := netip.ParseAddr(r.From)
	if err != nil {
		return fmt.Errorf("from: %w", err)
	}
	if from.Is4() == r.IPv6 {
		return fmt.Errorf("from %s: the connection is one over %s", from, family)
	}
	c.from = from
	return nil
}
