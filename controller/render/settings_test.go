package render

import (
	"bytes"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// locationOf returns a location in which every name contains name.
func locationOf(all *root, name string, change func(*model.Location)) *located {
	l := &model.Location{Path: "/" + name, IngressPath: "/" + name, Backend: "demo-" + name + "-80", DefaultBackendUpstreamName: "other-" + name}
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
		{"first-host", nil, 1, false},
		{"second-host", nil, 1, false},
		{"third-host", body("1m"), 2, false},
		{"fourth-host", body("1m"), 2, false},
		{"fifth-host", auth, 2, true},
		{"sixth-host", body("2m"), 3, false},
		{"seventh-host", body("3m"), mostSettings, false},
		{"eighth-host", body("4m"), mostSettings, false},
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
		name := test.name
		if test.named {
			name = buildAuthLocation(dot.Location, "")
		}
		if named := strings.Contains(got, name); named != test.named {
			t.Errorf("%s: whether it has the name %s is %t in\n%s", test.name, name, named, got)
		}
		if known := len(*all.texts.settings.all.Load()); known != test.known {
			t.Errorf("%s: %d settings are known, want %d", test.name, known, test.known)
		}
	}
}

// What settings.tmpl gets has no name, so it cannot depend on one.
func TestSettingsHaveNoName(t *testing.T) {
	all := &root{Cfg: new(cfg), DynamicConfiguration: true, texts: new(texts)}
	var unnamed unnamed
	if !unnamed.set(locationOf(all, "secret", nil)) || unnamed.Server != nil || unnamed.Identity != (identity{}) || unnamed.Pass != "" || unnamed.ErrorUpstream != "" {
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
}
