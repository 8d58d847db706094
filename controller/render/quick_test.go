package render

import (
	"strings"
	"testing"

	"windtunnel.dev/controller/model"
)

func TestSharedTemplatesExist(t *testing.T) {
	for name := range sameForMany {
		if quick.Lookup(name) == nil {
			t.Errorf("there is no template %s", name)
		}
	}
}

// Locations with equal dots share one text; others have their own.
func TestTextsAreSharedByEqualDots(t *testing.T) {
	all := &root{Cfg: new(cfg), texts: new(texts)}
	write := quick.text
	for _, dot := range []audience{{all, model.CertificateAuth{}, "proxy_set_header"}, {all, model.CertificateAuth{}, "proxy_set_header"}, {all, model.CertificateAuth{}, "grpc_set_header"}} {
		got, err := write("asked.tmpl", dot)
		if err != nil {
			t.Fatal(err)
		}
		if want := dot.SetHeader + " X-Forwarded-Host"; !strings.Contains(got, want) {
			t.Errorf("%q does not contain %q", got, want)
		}
	}
	count := 0
	all.texts.known.Range(func(any, any) bool { count++; return true })
	if count != 2 {
		t.Errorf("there are %d texts for two different dots", count)
	}
}
