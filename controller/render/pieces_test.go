package render_test

import (
	"bytes"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
)

// Rendering piece by piece gives the same nginx.conf as the whole nginx.tmpl, which users export.
func TestPiecesAreTheWholeTemplate(t *testing.T) {
	t.Parallel()
	in, _ := here(t, map[string]string{"server-snippet": "# {", "http-snippet": "map $a $b {\n}", "use-http2": "false"})
	m := hosts(in, pod(t, tellsAddress), map[string]func(*model.Location){
		"a.example": nil,
		"b.example": func(l *model.Location) { l.ConfigurationSnippet = "\n\n  set $x 1;\n\n" },
		"c.example": func(l *model.Location) {
			l.RateLimit = annotations.RateLimit{ID: "bGlt", Name: "demo_web", RPM: annotations.Zone{Name: "z_rpm", Limit: 1, SharedSize: 1}}
		},
		// Two hosts of each kind: the second shares texts with the first.
		"auth-1.example":     asksAuth,
		"auth-2.example":     asksAuth,
		"cached-1.example":   cachesAuth,
		"cached-2.example":   cachesAuth,
		"password-1.example": asksPassword,
		"password-2.example": asksPassword,
		"denied-1.example":   func(l *model.Location) { l.Denied = new("one") },
		"denied-2.example":   func(l *model.Location) { l.Denied = new("two") },
		"goes-1.example":     func(l *model.Location) { l.Redirect = annotations.Redirect{URL: "http://a.example", Code: 302} },
		"goes-2.example":     func(l *model.Location) { l.Redirect = annotations.Redirect{URL: "http://a.example", Code: 302} },
		"mirror-1.example":   func(l *model.Location) { l.Mirror = mirrored("1") },
		"mirror-2.example":   func(l *model.Location) { l.Mirror = mirrored("2") },
		"regex-1.example":    func(l *model.Location) { l.Rewrite.UseRegex = true },
		"regex-2.example":    func(l *model.Location) { l.Path, l.Rewrite.UseRegex = "/x", true },
		"errors-1.example":   interceptsErrors,
		"errors-2.example":   interceptsErrors,
		"proxy-1.example":    func(l *model.Location) { l.Proxy.BodySize, l.Allowlist.CIDR = "1m", []string{"10.0.0.0/8"} },
		"proxy-2.example":    func(l *model.Location) { l.Proxy.BodySize, l.Allowlist.CIDR = "2m", []string{"10.0.0.0/8"} },
		"z.example":          nil,
	})
	m.RedirectServers = []model.Redirect{{From: "www.a.example", To: "a.example"}, {From: "www.b.example", To: "b.example"}}
	pieces, err := render.Render(m, in)
	if err != nil {
		t.Fatal(err)
	}
	exported, err := render.ParseFolder("exported", render.Files())
	if err != nil {
		t.Fatal(err)
	}
	in.Template, in.Modules = exported, nil
	whole, err := render.Render(m, in)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(pieces, []byte("daemon off;")) // load_module lines differ
	if got, want := pieces[at:], whole[bytes.Index(whole, []byte("daemon off;")):]; !bytes.Equal(got, want) {
		t.Errorf("in pieces\n%s\nas a whole\n%s", got, want)
	}
}

func asksAuth(l *model.Location) {
	l.ExternalAuth = annotations.ExternalAuth{URL: "http://auth.example/check", Host: "auth.example", SigninURL: "http://auth.example/in"}
}

func cachesAuth(l *model.Location) {
	asksAuth(l)
	l.ExternalAuth.AuthCacheKey, l.ExternalAuth.KeepaliveConnections, l.ExternalAuth.KeepaliveRequests, l.ExternalAuth.KeepaliveTimeout = "$cookie_id", 2, 100, 60
}

func asksPassword(l *model.Location) {
	l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Realm: "r", Secured: true, File: "/tmp/" + l.Backend}
}

func interceptsErrors(l *model.Location) {
	l.CustomHTTPErrors, l.DefaultBackendUpstreamName = []int{503}, "custom-default-backend-"+l.Backend
}

func mirrored(id string) annotations.Mirror {
	return annotations.Mirror{Source: "_mirror-" + id, Target: "http://m.example$request_uri", Host: "m.example", RequestBody: "on"}
}

// A Memo renders only the pieces that a change affects; the texts share all others.
func TestMemoRendersWhatChanged(t *testing.T) {
	t.Parallel()
	in, _ := here(t, nil)
	m := hosts(in, pod(t, tellsAddress), map[string]func(*model.Location){"a.example": nil, "b.example": nil, "c.example": nil})
	var memo render.Memo
	renders := func(what string, m *model.Model, in render.Input, want int) {
		t.Helper()
		before := memo.Pieces()
		text, err := memo.Render(m, in)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := render.Render(m, in)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text.Bytes(), fresh) {
			t.Errorf("%s: the memo renders\n%s\nwant\n%s", what, text, fresh)
		}
		got := 0
		for piece := range memo.Pieces() {
			if !before[piece] {
				got++
			}
		}
		if got != want {
			t.Errorf("%s: %d pieces were rendered, want %d", what, got, want)
		}
	}
	servers := len(m.Servers)
	renders("the first model", m, in, servers)
	renders("the same again", m, in, 0)

	changed := *m
	changed.Servers = append([]*model.Server(nil), m.Servers...)
	one := *changed.Servers[1]
	one.ServerSnippet = "# changed"
	changed.Servers[1] = &one
	renders("one server", &changed, in, 1)

	changed.RedirectServers = []model.Redirect{{From: "www.a.example", To: "a.example"}}
	renders("a redirect", &changed, in, 1)

	changed.AddHeaders = map[string]string{"X-Added": "yes"}
	renders("a header of all answers", &changed, in, servers+1)

	in.Options.Config.UpstreamKeepaliveTimeout++
	renders("a key of the ConfigMap", &changed, in, servers+1)

	in.Options.DynamicConfiguration = false
	renders("endpoints in nginx.conf", &changed, in, servers+1)
	renders("endpoints in nginx.conf, again", &changed, in, servers+1)
	if len(memo.Pieces()) != servers+1 {
		t.Errorf("%d pieces are kept", len(memo.Pieces()))
	}
}
