package side

import (
	"slices"
	"testing"

	"windtunnel.dev/sim/scenario"
)

func TestDifferingSettings(t *testing.T) {
	base := scenario.Subject{Nginx: "/a/nginx", Config: map[string]string{"keep-alive": "75", "use-gzip": "true", "old": "1"}}
	head := scenario.Subject{Nginx: "/b/nginx", Config: map[string]string{"keep-alive": "7", "use-gzip": "true"}, Flags: map[string]string{"watch-namespace": "a"}}
	want := []string{"config.keep-alive=7", "config.old", "flag.watch-namespace=a", "nginx=/b/nginx"}
	if got := differing(base, head); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := differing(base, base); len(got) > 0 {
		t.Errorf("equal sides differ in %q", got)
	}
}
