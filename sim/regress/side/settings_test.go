package side

import (
	"reflect"
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

func TestMixedSides(t *testing.T) {
	base := scenario.Subject{Nginx: "/a/nginx", Lua: "/a/lua", Config: map[string]string{"keep-alive": "75", "old": "1"}, Flags: map[string]string{"enable-metrics": "false"}}
	head := scenario.Subject{Nginx: "/b/nginx", Lua: "/b/lua", Template: "/b/template", Config: map[string]string{"keep-alive": "7", "use-gzip": "true"}}
	all := append([]string{"template"}, differing(base, head)...)
	for _, test := range []struct {
		settings []string
		want     scenario.Subject
	}{
		{nil, scenario.Subject{Nginx: "/a/nginx", Lua: "/b/lua", Config: base.Config, Flags: base.Flags}},
		{[]string{"config.old", "config.use-gzip=true"}, scenario.Subject{Nginx: "/a/nginx", Lua: "/b/lua", Config: map[string]string{"keep-alive": "75", "use-gzip": "true"}, Flags: base.Flags}},
		{[]string{"template", "nginx=/b/nginx"}, scenario.Subject{Nginx: "/b/nginx", Lua: "/b/lua", Template: "/b/template", Config: base.Config, Flags: base.Flags}},
		{all, scenario.Subject{Nginx: "/b/nginx", Lua: "/b/lua", Template: "/b/template", Config: head.Config, Flags: map[string]string{}}},
	} {
		if got := mixed(base, head, test.settings); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: %+v, want %+v", test.settings, got, test.want)
		}
	}
	if base.Config["old"] != "1" || base.Flags["enable-metrics"] != "false" {
		t.Errorf("base changed: %+v", base)
	}
}
