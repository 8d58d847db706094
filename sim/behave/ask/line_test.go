package ask

import (
	"strings"
	"testing"
)

func TestParseLine(t *testing.T) {
	for text, want := range map[string]line{
		"GET http://a.example":                         {"GET", "http", "a.example", "/"},
		"GET http://a.example?x=1":                     {"GET", "http", "a.example", "/?x=1"},
		"PROPFIND https://A.example:8443/x/../%2F//?a": {"PROPFIND", "https", "A.example:8443", "/x/../%2F//?a"},
		"get http://[::1]:80/%zz#f":                    {"get", "http", "[::1]:80", "/%zz#f"},
		"G@T http://a/b?u=http://c/d@e":                {"G@T", "http", "a", "/b?u=http://c/d@e"},
		"GET http://a/ü":                               {"GET", "http", "a", "/ü"},
	} {
		if got, err := parseLine(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]string{
		"":                         "want a method, one space, and a URL",
		"http://a/":                "want a method",
		" http://a/":               "want a method",
		"GET  http://a/":           "column 5: a raw space",
		"GET http://a/b c":         "column 15: a raw space in the URL; write %20",
		"GET http://a/b ":          "column 15: a raw space",
		"GET http://a/\t":          "column 14: the control character 0x09; write %09",
		"GET http://a/\r\nX: y":    "column 14: the control character 0x0d; write %0D",
		"G\nET http://a/":          "column 2: the control character",
		"GET ftp://a/":             "want http:// or https://",
		"GET /path":                "want http:// or https://",
		"GET http:///path":         "no host",
		"GET http://:80/path":      "no host",
		"GET https://me:pw@a/path": "write an Authorization header",
	} {
		if got, err := parseLine(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, got, err, want)
		}
	}
}

func TestHostOf(t *testing.T) {
	for authority, want := range map[string]string{
		"a.example": "a.example", "a.example:80": "a.example", "[::1]": "::1", "[::1]:80": "::1", ":80": "", "": "",
	} {
		if got := hostOf(authority); got != want {
			t.Errorf("%s: %s, want %s", authority, got, want)
		}
	}
}

// A request line is refused, or its parts are those of the text: nothing is lost, added or
// rewritten, and no part can end the line or a field of a request.
func FuzzParseLine(f *testing.F) {
	for _, seed := range []string{
		"GET http://a.example/b?c=d", "GET https://a:1?x", "x http://[::1]/%2F/../ ", "GET http://a/b\r\n\r\nGET / HTTP/1.1", "GET http://a#", "A http://@/",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := parseLine(text)
		if err != nil {
			return
		}
		whole := l.method + " " + l.scheme + "://" + l.authority + l.target
		bare := l.method + " " + l.scheme + "://" + l.authority + strings.TrimPrefix(l.target, "/")
		if text != whole && text != bare {
			t.Errorf("%q became %+v", text, l)
		}
		if !strings.HasPrefix(l.target, "/") || l.method == "" || hostOf(l.authority) == "" {
			t.Errorf("%q: %+v lacks a part", text, l)
		}
		for _, part := range []string{l.method, l.authority, l.target} {
			if strings.ContainsFunc(part, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
				t.Errorf("%q: %q would end early on the wire", text, part)
			}
		}
		if strings.ContainsAny(l.authority, "/?#@") {
			t.Errorf("%q: authority %q", text, l.authority)
		}
	})
}
