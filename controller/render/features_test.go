package render

import (
	"reflect"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
)

// The arguments and results are those of ingress-nginx.
func TestFunctionsOfFeatures(t *testing.T) {
	v1 := &model.Location{Path: "/api/v1", PathType: new(networkingv1.PathTypePrefix), Backend: "demo-web-80"}
	v1.ExternalAuth = annotations.ExternalAuth{URL: "http://auth.example.com:8080/check?x=1", KeepaliveConnections: 8}
	free := &model.Location{Path: "/api/v1", Location: annotations.Location{EnableGlobalAuth: true}}
	http1 := &cfg{}
	http2 := &cfg{Config: options.Config{UseHTTP2: true}}

	limited := &model.Location{Location: annotations.Location{RateLimit: annotations.RateLimit{
		ID: "ID", Name: "N", LimitRate: 7, LimitRateAfter: 8,
		Connections: annotations.Zone{Name: "N_conn", Limit: 1, SharedSize: 5},
		RPS:         annotations.Zone{Name: "N_rps", Limit: 2, Burst: 10, SharedSize: 5},
		RPM:         annotations.Zone{Name: "N_rpm", Limit: 3, Burst: 15, SharedSize: 5},
	}}}
	servers := []*model.Server{{Locations: []*model.Location{limited, limited}}}

	mirrored := &model.Location{Location: annotations.Location{Mirror: annotations.Mirror{Source: "_mirror-uid", Target: "https://t.com$request_uri", Host: "t.com"}}}
	halfMirrored := &model.Location{Location: annotations.Location{Mirror: annotations.Mirror{Source: "_mirror-2", Target: "https://t.com"}}}

	failing := &model.Server{Locations: []*model.Location{
		{DefaultBackendUpstreamName: "b", Location: annotations.Location{CustomHTTPErrors: []int{503, 404}}},
		{DefaultBackendUpstreamName: "a", Location: annotations.Location{CustomHTTPErrors: []int{500}}},
		{DefaultBackendUpstreamName: "b", Location: annotations.Location{CustomHTTPErrors: []int{404}}},
	}}

	for _, test := range []struct{ call, got, want any }{
		{"formatIP", formatIP("::1") + formatIP("10.0.0.1"), "[::1]10.0.0.1"},
		{"quote of a pointer", quote(new("a")), `"a"`},
		{"buildForwardedHost", buildForwardedFor("X-Forwarded-Host"), "$http_x_forwarded_host"},

		{"buildAuthLocation", buildAuthLocation(v1, ""), "_external-auth-L2FwaS92MQ-Prefix"},
		{"buildAuthLocation global", buildAuthLocation(free, "http://x"), "_external-auth-L2FwaS92MQ-default"},
		{"buildAuthLocation none", buildAuthLocation(free, ""), ""},
		{"buildAuthLocation long", len(buildAuthLocation(&model.Location{Path: strings.Repeat("/", 4000), Location: annotations.Location{EnableGlobalAuth: true}}, "http://x")) < 100, true},
		{"buildAuthUpstreamName", buildAuthUpstreamName(v1, "web.example"), "web.example-external-auth-L2FwaS92MQ-Prefix"},
		{"shouldApplyGlobalAuth", shouldApplyGlobalAuth(free, "http://x"), true},
		{"shouldApplyGlobalAuth own", shouldApplyGlobalAuth(v1, "http://x"), false},
		{"shouldApplyAuthUpstream", shouldApplyAuthUpstream(v1, http1), true},
		{"shouldApplyAuthUpstream HTTP/2", shouldApplyAuthUpstream(v1, http2), false},
		{"buildAuthResponseHeaders", buildAuthResponseHeaders("proxy_set_header", []string{"X-User"}, false),
			[]string{"auth_request_set $authHeader0 $upstream_http_x_user;", "proxy_set_header 'X-User' $authHeader0;"}},
		{"buildAuthResponseHeaders Lua", buildAuthResponseHeaders("grpc_set_header", []string{"X-User"}, true),
			[]string{"set $authHeader0 '';", "grpc_set_header 'X-User' $authHeader0;"}},
		{"buildAuthUpstreamLuaHeaders", buildAuthUpstreamLuaHeaders([]string{"A", "B"}), "A,B"},
		{"buildAuthProxySetHeaders", buildAuthProxySetHeaders(map[string]string{"B": "y", "A": "x"}),
			[]string{`proxy_set_header "A" "x";`, `proxy_set_header "B" "y";`}},
		{"extractHostPort", extractHostPort("http://auth.example.com:8080/x?y=1"), "auth.example.com:8080"},
		{"extractHostPort of no URL", extractHostPort("auth.example.com"), ""},
		{"changeHostPort", changeHostPort("http://auth.example.com/x?y=1", "up"), "http://up/x?y=1"},
		{"buildAuthSignURL", buildAuthSignURL("https://a/login", ""), "https://a/login?rd=$pass_access_scheme://$http_host$escaped_request_uri"},
		{"buildAuthSignURL query", buildAuthSignURL("https://a/login?x=1", "to"), "https://a/login?x=1&to=$pass_access_scheme://$http_host$escaped_request_uri"},
		{"buildAuthSignURL present", buildAuthSignURL("https://a/login?to=b", "to"), "https://a/login?to=b"},
		{"buildAuthSignURLLocation", buildAuthSignURLLocation("/p", "u"), "@cb82fdfd5ff5bf1b709fa22fa3a94dfa5f56c83c"},

		{"buildCorsOriginRegex *", buildCorsOriginRegex([]string{"https://a", "*"}), "set $http_origin *;\nset $cors 'true';"},
		{"buildCorsOriginRegex", buildCorsOriginRegex([]string{"https://*.foo.bar", "http://a:80"}),
			`if ($http_origin ~* ^((https://[A-Za-z0-9\-]+\.foo\.bar)|(http://a:80))$ ) { set $cors 'true'; }`},

		{"buildRateLimitZones", buildRateLimitZones(servers), []string{
			"limit_conn_zone $limit_ID zone=N_conn:5m;", "limit_req_zone $limit_ID zone=N_rpm:5m rate=3r/m;", "limit_req_zone $limit_ID zone=N_rps:5m rate=2r/s;"}},
		{"buildRateLimit", buildRateLimit(limited), []string{
			"limit_conn N_conn 1;", "limit_req zone=N_rps burst=10 nodelay;", "limit_req zone=N_rpm burst=15 nodelay;", "limit_rate_after 8k;", "limit_rate 7k;"}},
		{"filterRateLimits", len(filterRateLimits(servers)), 1},

		{"buildMirrorLocations", strings.Join(strings.Fields(buildMirrorLocations([]*model.Location{mirrored, halfMirrored, mirrored})), " "),
			`location = "_mirror-uid" { internal; proxy_set_header Host "t.com"; proxy_set_header X-Sent-From "nginx-ingress-controller"; proxy_pass "https://t.com$request_uri"; }`},
		{"buildCustomErrorLocationsPerServer", buildCustomErrorLocationsPerServer(failing), []errorUpstream{{"a", []int{500}}, {"b", []int{404, 503}}}},
		{"buildCustomErrorDeps", buildCustomErrorDeps("u", []int{404}, true, false), customErrors{"u", []int{404}, true, false}},

		{"isLocationInLocationList", isLocationInLocationList(v1, "/x, /api"), true},
		{"isLocationInLocationList none", isLocationInLocationList(v1, ""), false},
		{"isLocationAllowed", isLocationAllowed(v1), true},
		{"isLocationAllowed denied", isLocationAllowed(&model.Location{Location: annotations.Location{Denied: new("")}}), false},
		{"enforceRegexModifier", enforceRegexModifier([]*model.Location{v1, {Path: "/a", Location: annotations.Location{Rewrite: annotations.Rewrite{Target: "/"}}}}), true},
		{"enforceRegexModifier same", enforceRegexModifier([]*model.Location{v1, {Path: "/a", Location: annotations.Location{Rewrite: annotations.Rewrite{Target: "/a"}}}}), false},
		{"proxySetHeader", proxySetHeader(&model.Location{Location: annotations.Location{BackendProtocol: "GRPCS"}}), "grpc_set_header"},
		{"proxySetHeader as written", proxySetHeader(&model.Location{Location: annotations.Location{BackendProtocol: "grpc"}}), "proxy_set_header"},
		{"comment", comment("a\n } b"), "a } b"},
		{"inSingleQuotes", inSingleQuotes(`a'b\'c`), `a\'b\'c`},
		{"buildDenyVariable", len(buildDenyVariable("a")) == len("$deny_")+32 && buildDenyVariable("a") != buildDenyVariable("b"), true},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s = %v, want %v", test.call, test.got, test.want)
		}
	}
}

func TestProxyPass(t *testing.T) {
	backends := model.Backends{{Name: "plain"}, {Name: "tls", SSLPassthrough: true}}
	rewritten := &model.Location{Path: "/something(/|$)(.*)", Location: annotations.Location{Rewrite: annotations.Rewrite{Target: "/$2"}}}
	prefixed := *rewritten
	prefixed.XForwardedPrefix = "/pre"
	for _, test := range []struct {
		location *model.Location
		want     string
	}{
		{&model.Location{}, "proxy_pass http://upstream_balancer;"},
		{&model.Location{Location: annotations.Location{BackendProtocol: "HTTPS"}}, "proxy_pass https://upstream_balancer;"},
		{&model.Location{Location: annotations.Location{BackendProtocol: "AUTO_HTTP"}}, "proxy_pass $scheme://upstream_balancer;"},
		{&model.Location{Location: annotations.Location{BackendProtocol: "grpc"}}, "grpc_pass grpc://upstream_balancer;"},
		{&model.Location{Location: annotations.Location{BackendProtocol: "GRPCS"}}, "grpc_pass grpcs://upstream_balancer;"},
		{&model.Location{Location: annotations.Location{BackendProtocol: "FCGI"}}, "fastcgi_pass upstream_balancer;"},
		{&model.Location{Backend: "tls"}, "proxy_pass https://upstream_balancer;"},
		{&model.Location{Backend: "tls", Location: annotations.Location{BackendProtocol: "GRPC"}}, "grpc_pass grpcs://upstream_balancer;"},
		{&model.Location{Backend: "plain", Location: annotations.Location{BackendProtocol: "GRPC"}}, "grpc_pass grpc://upstream_balancer;"},
		{&model.Location{Backend: model.DefaultBackendName, Location: annotations.Location{BackendProtocol: "GRPC"}}, "proxy_pass http://upstream_balancer;"},
		{rewritten, "\nrewrite \"(?i)/something(/|$)(.*)\" /$2 break;\nproxy_pass http://upstream_balancer;"},
		{&prefixed, "\nrewrite \"(?i)/something(/|$)(.*)\" /$2 break;\nproxy_set_header X-Forwarded-Prefix \"/pre\";\nproxy_pass http://upstream_balancer;"},
		{&model.Location{Path: "/a", Location: annotations.Location{Rewrite: annotations.Rewrite{Target: "/a"}}}, "proxy_pass http://upstream_balancer;"},
	} {
		if got := buildProxyPass("_", backends, test.location); got != test.want {
			t.Errorf("%+v: %q, want %q", *test.location, got, test.want)
		}
	}
}

func TestTracingAndFirewallOfLocations(t *testing.T) {
	on := annotations.Opentelemetry{Set: true, Enabled: true, OperationName: "op", TrustSet: true}
	off := annotations.Opentelemetry{Set: true}
	for _, test := range []struct {
		global bool
		own    annotations.Opentelemetry
		want   string
	}{
		{false, annotations.Opentelemetry{}, ""},
		{false, off, ""},
		{true, off, "opentelemetry off;"},
		{true, annotations.Opentelemetry{}, "opentelemetry on;\nopentelemetry_propagate;\nopentelemetry_trust_incoming_spans on;"},
		{false, on, "opentelemetry on;\nopentelemetry_propagate;\nopentelemetry_operation_name \"op\";\nopentelemetry_trust_incoming_spans off;"},
	} {
		if got := buildOpentelemetryForLocation(test.global, true, &model.Location{Location: annotations.Location{Opentelemetry: test.own}}); got != test.want {
			t.Errorf("%v %+v: %q, want %q", test.global, test.own, got, test.want)
		}
	}

	firewall := annotations.ModSecurity{EnableSet: true, Enable: true}
	rules, strict := firewall, firewall
	rules.Snippet, rules.TransactionID = "SecRule 'x'", "$request_id"
	strict.OWASPRules = true
	both := rules
	both.OWASPRules = true
	unset := both
	unset.EnableSet, unset.Enable = false, false
	const (
		enabled   = "modsecurity on;\n"
		own       = "modsecurity_rules '\nSecRule \\'x\\'\n';\nmodsecurity_transaction_id \"$request_id\";"
		defaults  = "modsecurity_rules_file /etc/nginx/modsecurity/modsecurity.conf;"
		owasp     = "modsecurity_rules_file /etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf;"
		ofNone    = 0
		ofAll     = 1 // enable-modsecurity
		owaspOnly = 2 // enable-owasp-modsecurity-crs
	)
	for _, test := range []struct {
		global int
		own    annotations.ModSecurity
		want   string
	}{
		{ofNone, annotations.ModSecurity{}, ""},
		{ofAll, annotations.ModSecurity{}, ""},
		{ofAll, annotations.ModSecurity{EnableSet: true}, "modsecurity off;"},
		{ofNone, unset, ""},
		{ofNone, firewall, enabled + defaults},
		{ofNone, rules, enabled + own},
		{ofNone, strict, enabled + defaults + "\n" + owasp},
		{ofNone, both, enabled + own + "\n" + owasp},
		{ofAll, firewall, ""},
		{ofAll, rules, own},
		{ofAll, strict, owasp},
		{ofAll, both, own + "\n" + owasp},
		{ofAll, unset, own + "\n" + owasp},
		{ofAll | owaspOnly, strict, ""},
		{ofAll | owaspOnly, both, own},
		{owaspOnly, strict, enabled + defaults + "\n" + owasp}, // applies to all locations only if enable-modsecurity is on
		{owaspOnly, both, enabled + own + "\n" + owasp},
	} {
		config := &cfg{}
		config.EnableModsecurity, config.EnableOWASPCoreRules = test.global&ofAll > 0, test.global&owaspOnly > 0
		if got := buildModSecurityForLocation(config, &model.Location{Location: annotations.Location{ModSecurity: test.own}}); got != test.want {
			t.Errorf("%v %+v: %q, want %q", test.global, test.own, got, test.want)
		}
	}
}

func TestAllFunctionsOfIngressNginxExist(t *testing.T) {
	names := strings.Fields(`empty escapeLiteralDollar quote buildLuaSharedDictionaries luaConfigurationRequestBodySize
		buildLocation sanitizeQuotedRegex enforceRegexModifier buildAuthLocation shouldApplyGlobalAuth shouldApplyAuthUpstream
		buildAuthUpstreamName buildAuthResponseHeaders buildAuthUpstreamLuaHeaders buildAuthProxySetHeaders extractHostPort
		changeHostPort buildAuthSignURL buildAuthSignURLLocation buildProxyPass buildNextUpstream filterRateLimits
		buildRateLimitZones buildRateLimit locationConfigForLua buildResolvers buildUpstreamName isLocationInLocationList
		isLocationAllowed isValidByteSize getIngressInformation serverConfig buildForwardedFor buildForwardedHost
		buildOpentelemetry buildOpentelemetryForLocation shouldLoadOpentelemetryModule shouldLoadModSecurityModule
		shouldLoadAuthDigestModule buildModSecurityForLocation buildMirrorLocations proxySetHeader buildCustomErrorDeps
		buildCustomErrorLocationsPerServer buildHTTPListener buildHTTPSListener buildServerName buildCorsOriginRegex
		hasPrefix trimSpace formatIP buildDenyVariable getenv contains split hasSuffix toUpper toLower`)
	if len(names) != 58 {
		t.Errorf("%d names, ingress-nginx has 58", len(names))
	}
	for _, name := range names {
		if functions[name] == nil {
			t.Errorf("the function %s is missing", name)
		}
	}
}
