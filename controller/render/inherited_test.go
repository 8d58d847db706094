package render_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
)

// A location inherits a directive unless it sets its own. This table lists all kinds of locations
// that the template writes, and what must apply in each, regardless of the http and server blocks
// and their snippets. A location of an unknown kind fails the test, so a new kind needs a new row.
var kinds = []kind{
	{name: "path of an ingress", is: `^(= )?"/|^~\* "\^/`, server: `host|_`, internal: false,
		passes: true, told: slices.Concat(whoTheClientIs, whatItAsksFor), answers: true},

	{name: "external authentication", is: `^= "_external-auth-`, server: `host|_`, internal: true,
		ownErrors: true, unwatched: true, unlogged: true, bodiless: true,
		passes: true, told: slices.Concat(whoTheClientIs, []string{
			`X-Original-URL $scheme://$http_host$request_uri`, `X-Original-URI $request_uri`, `X-Original-Method $request_method`,
			`X-Scheme $pass_access_scheme`, `X-Forwarded-Proto ""`, `X-Forwarded-Host ""`, `X-Forwarded-Uri ""`, `X-Forwarded-Method ""`, `Forwarded ""`,
		})},
	{name: "mirror", is: `^= "_mirror-`, server: `host|_`, internal: true,
		ownErrors: true, unwatched: true, unlogged: true,
		passes: true, told: slices.Concat(whoTheClientIs, whatItAsksFor)},
	{name: "custom error", is: `^@custom_`, server: `host|_`, internal: true,
		ownErrors: true, unwatched: true,
		passes: true, told: slices.Concat(whoTheClientIs, whatItAsksFor), answers: true},
	{name: "sign-in", is: `^@[0-9a-f]{40}$`, server: `host|_`, internal: true,
		ownErrors: true, unwatched: true, answers: true},

	{name: "redirect to another host", is: `^/$`, server: `redirect`},
	{name: "health of the catch-all host", is: `^/healthz$`, server: `_`, unwatched: true, unlogged: true},
	{name: "status of the catch-all host", is: `^/nginx_status$`, server: `_`, ownErrors: true, unwatched: true, unlogged: true},
	{name: "status server", is: `^/(healthz|is-dynamic-lb-initialized|nginx_status|configuration)?$`, server: `status`, ownErrors: true, unwatched: true, unlogged: true},
	{name: "default server", is: `^/$`, server: `default`, ownErrors: true, unwatched: true, unlogged: true},
}

type kind struct {
	name     string
	is       string // pattern of the text after "location"
	server   string // the servers that have it: a host, _, redirect, status, default
	internal bool   // only internal redirects and subrequests reach it

	ownErrors bool     // error pages do not replace its responses
	unwatched bool     // neither firewall nor tracing
	unlogged  bool     // no line in the access log
	bodiless  bool     // the client's body is not forwarded
	passes    bool     // it forwards requests …
	told      []string // … with these headers instead of the client's
	answers   bool     // clients see its responses, which have the ConfigMap's add-headers
}

var (
	whoTheClientIs = []string{
		`X-Request-ID $req_id`, `X-Real-IP $remote_addr`, `X-Forwarded-For $remote_addr`, `X-Forwarded-For-Proxy-Protocol $proxy_protocol_addr`, `Proxy ""`,
		`ssl-client-verify $ssl_client_verify`, `ssl-client-subject-dn $ssl_client_s_dn`, `ssl-client-issuer-dn $ssl_client_i_dn`, `ssl-client-cert ""`,
	}
	whatItAsksFor = []string{
		`X-Forwarded-Host $best_http_host`, `X-Forwarded-Port $pass_port`, `X-Forwarded-Proto $pass_access_scheme`,
		`X-Forwarded-Scheme $pass_access_scheme`, `X-Scheme $pass_access_scheme`,
		`X-Original-Forwarded-For $http_x_forwarded_for`, `X-Original-Forwarded-Host $http_x_forwarded_host`,
	}
	// Access is decided once, for the client's request. nginx would check access again in these
	// locations, because it also runs them for internal redirects.
	admission = []string{"auth_request", "auth_basic", "auth_digest", "access_by_lua_file", "satisfy", "allow", "limit_req", "limit_conn", "mirror"}
)

func TestWhatLocationsInherit(t *testing.T) {
	text := inheriting(t, func(*render.Input) {})
	met := make(map[string]bool)
	for _, l := range locations(t, text) {
		i := slices.IndexFunc(kinds, func(k kind) bool {
			return regexp.MustCompile(k.is).MatchString(l.name) && slices.Contains(strings.Split(k.server, "|"), l.server)
		})
		if i < 0 {
			t.Errorf("server %s, location %s: its kind is not in the table", l.server, l.name)
			continue
		}
		met[kinds[i].name] = true
		t.Run(kinds[i].name+" "+l.name, func(t *testing.T) { kinds[i].check(t, l) })
	}
	for _, k := range kinds {
		if !met[k.name] {
			t.Errorf("%s: no location of this kind is rendered", k.name)
		}
	}
}

func (k kind) check(t *testing.T, l location) {
	must := func(holds bool, what string) {
		t.Helper()
		if !holds {
			t.Errorf("%s", what)
		}
	}
	must(len(l.own["internal"]) == btoi(k.internal), "internal")
	if k.ownErrors {
		must(slices.Equal(l.effective("proxy_intercept_errors"), []string{"off"}), "proxy_intercept_errors is not off")
		must(slices.Equal(l.effective("error_page"), []string{"599 @none"}), "error pages are inherited")
	}
	if k.unwatched {
		must(slices.Equal(l.effective("modsecurity"), []string{"off"}), "modsecurity is not off")
		must(slices.Equal(l.effective("opentelemetry"), []string{"off"}), "opentelemetry is not off")
	}
	if k.unlogged {
		must(slices.Equal(l.effective("access_log"), []string{"off"}), "access_log is not off")
	}
	if k.bodiless {
		must(slices.Equal(l.effective("proxy_pass_request_body"), []string{"off"}), "the body is passed on")
	}
	must(k.passes == (len(l.own["proxy_pass"]) > 0), "proxy_pass")
	for _, header := range k.told {
		must(slices.Contains(l.own["proxy_set_header"], header), "does not set "+header)
	}
	if k.answers {
		must(slices.ContainsFunc(l.effective("add_header"), func(h string) bool { return strings.HasPrefix(h, `"X-All" `) }), "answers lack the ConfigMap's headers")
	}
	if k.internal {
		for _, directive := range admission {
			must(len(l.effective(directive)) == 0, directive+" is asked again")
		}
		for _, snippet := range []string{"location-snippet", "configuration-snippet"} {
			must(!slices.Contains(l.own["set"], "$is "+snippet), "has the "+snippet)
		}
	}
}

// If nginx lacks a module, it would reject the module's directives.
func TestNoDirectivesOfMissingModules(t *testing.T) {
	text := inheriting(t, func(in *render.Input) { in.Optional = nil })
	for _, word := range []string{"modsecurity", "opentelemetry"} {
		if strings.Contains(text, word) {
			t.Errorf("%s is rendered", word)
		}
	}
	// The same holds for modules that are available but not needed, and so are not loaded.
	in := input()
	in.Optional = map[string][]string{"http_modsecurity": {"/m.so"}, "otel_ngx": {"/o.so"}}
	got, err := render.Render(empty(in), in)
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"modsecurity", "opentelemetry", "/m.so", "/o.so"} {
		if strings.Contains(string(got), word) {
			t.Errorf("%s is rendered although nothing needs it", word)
		}
	}
}

// inheriting renders all kinds of locations inside http and server blocks whose directives
// contradict what must apply.
func inheriting(t *testing.T, change func(*render.Input)) string {
	t.Helper()
	in := input()
	in.Optional = map[string][]string{"http_modsecurity": nil, "otel_ngx": nil}
	c := &in.Options.Config
	c.CustomHTTPErrors = []int{401, 404, 502}
	c.EnableModsecurity, c.EnableOpentelemetry = true, true
	c.UseProxyProtocol, c.EnableAuthAccessLog = true, false
	c.AddHeaders = "demo/add"
	c.GlobalAuthURL, c.GlobalAuthSignin = "http://global.example/", "https://global.example/login"
	against := "access_log /opposite.log;\nproxy_set_header X-Real-IP opposite;"
	c.HTTPSnippet, c.ServerSnippet = against, against
	c.LocationSnippet = "set $is location-snippet;"
	change(&in)

	own := annotations.ExternalAuth{URL: "http://auth.example/", Host: "auth.example", SigninURL: "https://auth.example/login"}
	kept := own
	kept.KeepaliveConnections, kept.KeepaliveRequests, kept.KeepaliveTimeout = 1, 1, 1
	m := hosts(in, model.Endpoint{Address: "127.0.0.1", Port: "1"}, map[string]func(*model.Location){
		"auth.example": func(l *model.Location) {
			l.ExternalAuth, l.ConfigurationSnippet = own, "set $is configuration-snippet;"
		},
		"kept.example": func(l *model.Location) { l.ExternalAuth = kept },
		"errors.example": func(l *model.Location) {
			l.CustomHTTPErrors, l.DefaultBackendUpstreamName = []int{404}, "custom-default-backend-demo-errors"
		},
		"mirror.example": func(l *model.Location) {
			l.Mirror = annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://copy.example", Host: "copy.example"}
		},
	})
	m.AddHeaders = map[string]string{"X-All": "all"}
	m.RedirectServers = []model.Redirect{{From: "www.known.example", To: "known.example"}}
	for _, server := range m.Servers {
		server.CertificateAuth = model.CertificateAuth{CAFileName: "/ca.pem", VerifyClient: "on", ErrorPage: "/error"}
		server.ServerSnippet = against
	}
	text, err := render.Render(m, in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// location is a location block and the blocks around it.
type location struct {
	name, server string
	own          directives
	around       []directives // from the innermost to the outermost
}

// directives maps the directives in a block to their arguments.
type directives map[string][]string

// effective returns the arguments of a directive that apply in the location: its own, or else
// inherited ones.
func (l location) effective(name string) []string {
	for _, block := range append([]directives{l.own}, l.around...) {
		if said := block[name]; len(said) > 0 {
			return said
		}
	}
	return nil
}

// locations returns the locations of a configuration in our layout, which has one directive per
// line.
func locations(t *testing.T, text string) []location {
	t.Helper()
	var found []location
	type open struct {
		says  directives
		index int // index in found; -1 if the block is not a location
	}
	stack := []open{{directives{}, -1}}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		top := stack[len(stack)-1]
		word, arguments, _ := strings.Cut(strings.TrimRight(line, " ;{"), " ")
		switch {
		case line == "" || line[0] == '#':
		case line == "}":
			stack = stack[:len(stack)-1]
		case strings.HasSuffix(line, "{"):
			next := open{directives{}, -1}
			if word == "location" {
				l := location{name: arguments, own: next.says}
				for _, block := range slices.Backward(stack) {
					l.around = append(l.around, block.says)
				}
				next.index = len(found)
				found = append(found, l)
			}
			stack = append(stack, next)
		default:
			top.says[word] = append(top.says[word], arguments)
		}
	}
	if len(stack) != 1 {
		t.Fatalf("%d blocks do not end", len(stack)-1)
	}
	for i, l := range found {
		found[i].server = serverKind(l.around[0])
	}
	return found
}

func serverKind(server directives) string {
	name, listen := strings.Join(server["server_name"], ""), strings.Join(server["listen"], " ")
	switch {
	case name == "_":
		return "_"
	case name == `"www.known.example"`:
		return "redirect"
	case name != "":
		return "host"
	case strings.HasPrefix(listen, "127.0.0.1:10246"):
		return "status"
	case strings.HasPrefix(listen, "8181 "):
		return "default"
	}
	return "unknown"
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
