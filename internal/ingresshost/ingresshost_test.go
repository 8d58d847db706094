package ingresshost

import (
	"slices"
	"testing"
)

func TestAliases(t *testing.T) {
	for value, want := range map[string][]string{
		"":                       nil,
		"a.example":              {"a.example"},
		" a.example,, ~^b\\.c ,": {"a.example", `~^b\.c`},
	} {
		if got := Aliases(map[string]string{"any.prefix/server-alias": value, "any.prefix/other": "x"}); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

func TestRedirectsWWW(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "false": false, "": false} {
		if got := RedirectsWWW(map[string]string{"any.prefix/from-to-www-redirect": value}); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

func TestOtherWWW(t *testing.T) {
	for host, want := range map[string]string{"a.example": "www.a.example", "www.a.example": "a.example"} {
		if got := OtherWWW(host); got != want {
			t.Errorf("%s: %s, want %s", host, got, want)
		}
	}
}

func TestWildcardCovers(t *testing.T) {
	for _, c := range []struct {
		wildcard, host string
		want           bool
	}{
		{"*.example", "a.example", true},
		{"*.example", "b.a.example", true},
		{"*.example", "example", false},
		{"*.example", "a.test", false},
		{"a.example", "a.example", false},
	} {
		if got := WildcardCovers(c.wildcard, c.host); got != c.want {
			t.Errorf("%s for %s: %v", c.wildcard, c.host, got)
		}
	}
}

func TestCertificateCovers(t *testing.T) {
	for _, c := range []struct {
		name, host string
		want       bool
	}{
		{"a.example", "a.example", true},
		{"a.example", "b.example", false},
		{"*.example", "a.example", true},
		{"*.example", "*.example", true},
		{"*.example", "b.a.example", false},
		{"*.example", ".example", false},
		{"*.example", "example", false},
	} {
		if got := CertificateCovers(c.name, c.host); got != c.want {
			t.Errorf("%s for %s: %v", c.name, c.host, got)
		}
	}
}
