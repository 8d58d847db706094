package render

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

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

func oneRoot() *root {
	return &root{Cfg: new(cfg), DynamicConfiguration: true, ListenPorts: new(listenPorts), texts: new(texts)}
}

// Locations that differ only in names share an outline, which contains no name.
func TestLocationsShareOutlines(t *testing.T) {
	all := oneRoot()
	body := func(size string) func(*model.Location) {
		return func(l *model.Location) { l.Proxy.BodySize = size }
	}
	auth := func(l *model.Location) {
		l.ExternalAuth = annotations.ExternalAuth{URL: "http://auth.example/", Host: "auth.example"}
	}
	password := func(name string) func(*model.Location) {
		return func(l *model.Location) {
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Secured: true, Secret: "demo/" + name, File: "/" + name, FileSHA: name}
		}
	}
	denied := func(l *model.Location) { l.Denied = new("no") } // without Pass
	for _, test := range []struct {
		name   string
		change func(*model.Location)
		known  int // outlines afterwards
	}{
		{"first-host", nil, 1},
		{"second-host", nil, 1},
		{"third-host", body("1m"), 2},
		{"fourth-host", body("1m"), 2},
		{"fifth-host", auth, 3},
		{"sixth-host", auth, 3},
		{"seventh-host", password("seventh-host"), mostOutlines},
		{"eighth-host", password("eighth-host"), mostOutlines},
		{"ninth-host", denied, mostOutlines},
		{"tenth-host", body("3m"), mostOutlines},
	} {
		dot := locationOf(all, test.name, test.change)
		var got, want bytes.Buffer
		if err := quick.writeOne(&got, locationFile, dot); err != nil {
			t.Fatal(err)
		}
		if err := ours.parsed.ExecuteTemplate(&want, locationFile, dot); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("%s: got\n%s\nwant\n%s", test.name, got.String(), want.String())
		}
		known := all.texts.outlines.all[kind{file: locationFile}]
		if len(known) != test.known {
			t.Errorf("%s: %d outlines are known, want %d", test.name, len(known), test.known)
		}
		for _, one := range known {
			if text := string(bytes.Join(one.texts, nil)); strings.Contains(text, test.name) {
				t.Errorf("the outline has the name %s:\n%s", test.name, text)
			}
		}
	}
}

// Servers that differ only in names and locations share an outline.
func TestServersShareOutlines(t *testing.T) {
	all := oneRoot()
	var dots []*served
	for _, name := range []string{"first", "second", "third"} {
		one, other := locationOf(all, name, nil).Location, locationOf(all, "other-"+name, nil).Location
		server := &model.Server{Hostname: name + ".example", Locations: []*model.Location{one, other}}
		one.ExternalAuth = annotations.ExternalAuth{URL: "http://auth.example/", SigninURL: "http://auth.example/in"}
		other.ExternalAuth = one.ExternalAuth
		dots = append(dots, serverConfig(all, server))
	}
	dots[2].Second.SSLCiphers = "HIGH"
	for i, known := range []int{1, 1, 2} {
		var got, want bytes.Buffer
		if err := quick.writeServer(&got, dots[i]); err != nil {
			t.Fatal(err)
		}
		if err := ours.parsed.ExecuteTemplate(&want, serverFile, dots[i]); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got\n%s\nwant\n%s", got.String(), want.String())
		}
		if now := len(all.texts.outlines.all[kind{file: serverFile}]); now != known {
			t.Errorf("%s: %d outlines are known, want %d", dots[i].Second.Hostname, now, known)
		}
	}
}

// The dot of an outline contains no name, so the outline cannot depend on one.
func TestOutlinesContainNoNames(t *testing.T) {
	all := oneRoot()
	dot := locationOf(all, "secret", func(l *model.Location) {
		l.ExternalAuth = annotations.ExternalAuth{URL: "http://auth.example/", SigninURL: "http://auth.example/in", AuthCacheKey: "$cookie_id", KeepaliveConnections: 1}
		l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Secured: true, Secret: "demo/secret", File: "/secret", FileSHA: "secret"}
	})
	for i, name := range dot.names() {
		if *name == "" {
			t.Errorf("the location has no name at index %d", i)
		}
	}
	var location unnamedLocation
	var server unnamedServer
	location.set(dot)
	if !server.set(serverConfig(all, &model.Server{Hostname: "secret.example", Locations: []*model.Location{dot.Location}})) {
		t.Fatal("the server has no outline")
	}
	location.All, server.First, server.Locations = nil, nil, nil // what all locations share
	for _, text := range []string{fmt.Sprintf("%+v %+v", location.located, location.location), fmt.Sprintf("%+v %+v", server.served, server.server)} {
		if strings.Contains(text, "secret") {
			t.Errorf("the dot contains the name: %s", text)
		}
	}
}

// An outline puts names between the texts that it keeps.
func TestOutline(t *testing.T) {
	text := "a " + placeholder(1) + placeholder(0) + "\n" + placeholder(1)
	var out bytes.Buffer
	if err := outlineOf([]byte(text)).fill(&out, func(name int) error { _, err := fmt.Fprintf(&out, "<%d>", name); return err }); err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "a <1><0>\n<1>"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	out.Reset()
	failed := errors.New("no name")
	if err := outlineOf([]byte(text)).fill(&out, func(int) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("error %v, want that of write", err)
	}
}

// Locations whose ingresses have different annotations do not replace each other's outlines.
func TestOutlinesOfManyKinds(t *testing.T) {
	all := oneRoot()
	var executed, twice int
	for range 2 {
		for i := range 20 {
			ingress := &networkingv1.Ingress{}
			ingress.Annotations = map[string]string{annotations.DefaultPrefix + "/proxy-body-size": fmt.Sprintf("%dm", i), "other/name": fmt.Sprint(executed)}
			dot := locationOf(all, "host", func(l *model.Location) {
				l.Ingress, l.Proxy.BodySize = &model.Ingress{Ingress: ingress}, fmt.Sprintf("%dm", i)
			})
			unnamed := new(unnamedLocation)
			unnamed.set(dot)
			_, kept, err := all.texts.outlines.find(kindOf(locationFile, dot), &unnamed.located, func(*bytes.Buffer) error { executed++; return nil })
			if err != nil {
				t.Fatal(err)
			}
			if !kept {
				twice++
			}
		}
	}
	if executed != 20 || twice != 20 {
		t.Errorf("%d executions and %d found, want 20 of each", executed, twice)
	}
}

// The number of outlines is limited, however many kinds there are.
func TestOutlinesAreLimited(t *testing.T) {
	var some outlines
	for i := range 3 * mostKinds {
		for j := range 2 * mostOutlines {
			if _, kept, err := some.find(kind{annotations: uint64(i)}, &j, func(*bytes.Buffer) error { return nil }); err != nil || !kept {
				t.Fatal(kept, err)
			}
		}
		if len(some.all) > mostKinds || len(some.all[kind{annotations: uint64(i)}]) > mostOutlines {
			t.Fatalf("%d kinds are kept, with %d outlines of the last one", len(some.all), len(some.all[kind{annotations: uint64(i)}]))
		}
	}
}
