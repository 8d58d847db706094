package plural_test

import (
	"testing"

	"windtunnel.dev/internal/plural"
)

func TestOf(t *testing.T) {
	for _, test := range []struct{ got, want string }{
		{plural.Of(0, "run"), "0 runs"},
		{plural.Of(1, "run"), "1 run"},
		{plural.Of(2, "run"), "2 runs"},
		{plural.Of(1, "ingress", "ingresses"), "1 ingress"},
		{plural.Of(2, "ingress", "ingresses"), "2 ingresses"},
		{plural.Noun(1, "is", "are"), "is"},
		{plural.Noun(0, "is", "are"), "are"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
