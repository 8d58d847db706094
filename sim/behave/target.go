package behave

import (
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// Target is a parsed request line.
type Target struct {
	Method string
	Scheme string // http or https
	Host   string // as in the Host header, with the port if there is one
	Path   string // with its query, exactly as written; it begins with /
}

// Hostname returns the host without its port, and without the brackets of an IPv6 address.
func (t Target) Hostname() string { return (&url.URL{Host: t.Host}).Hostname() }

// Target parses the request line, which Parse has checked.
func (r Request) Target() Target {
	target, _, _ := parseTarget(r.Request)
	return target
}

// parseTarget parses a request line. It does not use net/url for the path, because a case may ask
// for a path that is not valid in a URL. what and mend describe what is wrong with the line; what is
// empty if it is valid.
func parseTarget(line string) (target Target, what, mend string) {
	const shape = "write it as GET https://shop.example/cart"
	method, address, two := strings.Cut(line, " ")
	if !two || strings.Contains(address, " ") {
		return target, "a request line is a method and a URL, with one space between them", shape
	}
	if !httpguts.ValidHeaderFieldName(method) {
		return target, strconv.Quote(method) + " is not a method", shape
	}
	if upper := strings.ToUpper(method); upper != method {
		return target, "method " + method + " has lower-case letters", "write " + upper
	}
	if method == "CONNECT" {
		return target, "method CONNECT has no URL", "use another method"
	}
	if i := strings.IndexFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 {
		return target, "a control character in the URL", "encode it, as in %0A"
	}
	scheme, rest, _ := strings.Cut(address, "://")
	if scheme != "http" && scheme != "https" {
		return target, strconv.Quote(address) + " is not an http or https URL", shape
	}
	if strings.Contains(rest, "#") {
		return target, "a fragment in the URL, which clients do not send", "remove it, or write %23 for a # in the path"
	}
	host, path := rest, "/"
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		host, path = rest[:i], rest[i:]
		if path[0] == '?' {
			path = "/" + path
		}
	}
	if strings.Contains(host, "@") {
		return target, "credentials in the URL", "send the header Authorization instead"
	}
	parsed, err := url.Parse("http://" + host)
	if err != nil || parsed.Hostname() == "" || parsed.Host != host {
		return target, strconv.Quote(host) + " is not a host", shape
	}
	if port := parsed.Port(); port != "" || strings.HasSuffix(host, ":") {
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			return target, strconv.Quote(port) + " is not a port", "write one from 1 to 65535, or none"
		}
	}
	return Target{Method: method, Scheme: scheme, Host: host, Path: path}, "", ""
}
