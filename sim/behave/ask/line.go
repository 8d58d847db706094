package ask

import (
	"errors"
	"fmt"
	"strings"
)

// line is a parsed request line of a case: GET https://shop.example/cart?x=1.
type line struct {
	method    string
	scheme    string // http or https
	authority string // host and port, as written
	target    string // path and query, as written; begins with a slash
}

// parseLine splits a request line without changing its parts, except that an empty path becomes a
// slash (RFC 9112, section 3.2.1). The method can be any text.
func parseLine(text string) (line, error) {
	method, address, found := strings.Cut(text, " ")
	if !found || method == "" {
		return line{}, errors.New("want a method, one space, and a URL")
	}
	for i, b := range []byte(text) {
		switch {
		case b == ' ' && i != len(method):
			return line{}, fmt.Errorf("column %d: a raw space in the URL; write %%20", i+1)
		case b < ' ' || b == 0x7f:
			return line{}, fmt.Errorf("column %d: the control character %#02x; write %%%02X", i+1, b, b)
		}
	}
	scheme, rest, found := strings.Cut(address, "://")
	if !found || scheme != "http" && scheme != "https" {
		return line{}, fmt.Errorf("URL %q: want http:// or https://", address)
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, target := rest[:end], rest[end:]
	switch {
	case hostOf(authority) == "":
		return line{}, fmt.Errorf("URL %q: no host", address)
	case strings.Contains(authority, "@"):
		return line{}, fmt.Errorf("URL %q: a user in the URL; write an Authorization header", address)
	}
	if !strings.HasPrefix(target, "/") {
		target = "/" + target
	}
	return line{method, scheme, authority, target}, nil
}

// hostOf returns an authority without its port, and an IPv6 address without its brackets.
func hostOf(authority string) string {
	if address, _, found := strings.Cut(strings.TrimPrefix(authority, "["), "]"); found {
		return address
	}
	host, _, _ := strings.Cut(authority, ":")
	return host
}
