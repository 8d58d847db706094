package nginx

import (
	"bytes"
	"fmt"
	"strings"
)

// Unmet is a directive of a configuration that this nginx does not know.
type Unmet struct {
	Directive string
	Line      int    // of the configuration, from 1
	Reason    string // what nginx lacks
}

func (u Unmet) Error() string { return fmt.Sprintf("%s (line %d): %s", u.Directive, u.Line, u.Reason) }

// owners maps directives to modules by a prefix and a part of the directive's name. The first match
// wins. It lists only modules that ingress-nginx's image has and another nginx may lack.
var owners = []struct {
	block          string // stream or http
	prefix, within string
	module         string
}{
	{"stream", "lua_", "", "stream_lua"},
	{"stream", "", "_by_lua", "stream_lua"},
	{"http", "lua_", "", "http_lua"},
	{"http", "", "_by_lua", "http_lua"},
	{"http", "more_", "", "http_headers_more_filter"},
	{"http", "set_escape_uri", "", "http_set_misc"},
	{"http", "set_unescape_uri", "", "http_set_misc"},
	{"http", "brotli_static", "", "http_brotli_static"},
	{"http", "brotli", "", "http_brotli_filter"},
	{"http", "geoip2", "", "http_geoip2"},
	{"http", "modsecurity", "", "http_modsecurity"},
	{"http", "opentelemetry", "", "otel_ngx"},
	{"http", "auth_digest", "", "http_auth_digest"},
}

// Unmet returns the first directive of a configuration that this nginx does not know; nil if there
// is none. The configuration has the layout that the controller writes.
func (n *Nginx) Unmet(conf []byte) *Unmet {
	block, depth, number := "", 0, 0
	for line := range bytes.Lines(conf) {
		number++
		code, _, _ := strings.Cut(strings.TrimSpace(string(line)), "#")
		word, _, _ := strings.Cut(strings.TrimRight(code, " ;{"), " ")
		if depth == 0 {
			block = word
		}
		if reason := n.lacks(block, word); depth > 0 && reason != "" {
			return &Unmet{word, number, reason}
		}
		depth += strings.Count(code, "{") - strings.Count(code, "}")
	}
	return nil
}

// lacks returns the reason why nginx does not know a directive; empty if it knows it.
func (n *Nginx) lacks(block, directive string) string {
	if block == "http" && directive == "http2" && !n.AtLeast("1.25.1") {
		return fmt.Sprintf("nginx %s does not know it; 1.25.1 is the first version that does", n.Version)
	}
	if module := moduleOf(block, directive); module != "" {
		if _, err := n.Load(module); err != nil {
			return err.Error()
		}
	}
	return ""
}
