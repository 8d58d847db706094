package render

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// locationOf returns a location in which every name contains name.
func locationOf(all *root, name string, change func(*model.Location)) located {
	l := &model.Location{Path: "/" + name, IngressPath: "/" + name, Backend: "demo-" + name + "-80"}
	if change != nil {
		change(l)
	}
	return locationConfig(all, &model.Server{Hostname: name + ".example", Locations: []*model.Location{l}}, l, false)
}

// Locations that differ only in names share a text, which has no name.
func TestSettingsAreShared(t *testing.T) {
	all := &root{Cfg: new(cfg), DynamicConfiguration: true, texts: new(texts)}
	write := settings(quick)
	body := func(size string) func(*model.Location) {
		return func(l *model.Location) { l.Proxy.BodySize = size }
	}
	auth := func(l *model.Location) {
		l.ExternalAuth = annotations.ExternalAuth{URL: "http://auth.example/", Host: "auth.example"}
	}
	for _, test := range []struct {
		name   string
		change func(*model.Location)
		known  int  // settings afterwards
		named  bool // the text has the location's name
	}{
		{"first", nil, 1, false},
		{"second", nil, 1, false},
		{"third", body("1m"), 2, false},
		{"fourth", body("1m"), 2, false},
		{"fifth", auth, 2, true},
		{"sixth", body("2m"), 3, false},
		{"seventh", body("3m"), mostSettings, false},
		{"eighth", body("4m"), mostSettings, false},
	} {
		dot := locationOf(all, test.name, test.change)
		got, err := write(dot)
		if err != nil {
			t.Fatal(err)
		}
		var want bytes.Buffer
		if err := ours.parsed.ExecuteTemplate(&want, settingsFile, dot); err != nil {
			t.Fatal(err)
		}
		if got != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got, want.String())
		}
		if named := strings.Contains(got, buildAuthLocation(dot.Location, "")); test.named && !named {
			t.Errorf("%s: its name is not in\n%s", test.name, got)
		}
		if known := len(*all.texts.settings.all.Load()); known != test.known {
			t.Errorf("%s: %d settings are known, want %d", test.name, known, test.known)
		}
	}
}

// The templates that settings.tmpl executes read no name, except for those of external authentication.
func TestSettingsReadNoName(t *testing.T) {
	all := &root{Cfg: new(cfg), DynamicConfiguration: true, texts: new(texts)}
	unnamed, ok := locationOf(all, "secret", nil).settings()
	if !ok || unnamed.Server != nil || unnamed.Identity != (identity{}) || unnamed.Pass != "" {
		t.Errorf("it has names: %+v", unnamed)
	}
	l := unnamed.Location
	for what, name := range map[string]string{"path": l.Path, "ingress path": l.IngressPath, "backend": l.Backend, "default backend": l.DefaultBackendUpstreamName} {
		if name != "" {
			t.Errorf("it has the %s %s", what, name)
		}
	}
	if l.Ingress != nil || l.Service != nil || l.DefaultBackend != nil || l.PathType != nil {
		t.Errorf("it has objects: %+v", l)
	}
	if !slices.Contains([]string{"", model.DefaultBackendName}, unnamed.ErrorUpstream) {
		t.Errorf("it has the upstream %s", unnamed.ErrorUpstream)
	}
}
