package options_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/controller/options"
)

func TestEmptyConfigMapGivesTheDefaults(t *testing.T) {
	defaults := options.Defaults(4, true)
	config, problems := options.Parse(nil, defaults)
	if diff := cmp.Diff(defaults, config); diff != "" || len(problems) > 0 {
		t.Errorf("problems %v, difference %s", problems, diff)
	}
	if config.WorkerProcesses != "4" || config.KeepAlive != 75 || config.ProxyNextUpstream != "error timeout" {
		t.Errorf("workers %q, keep-alive %d, next upstream %q", config.WorkerProcesses, config.KeepAlive, config.ProxyNextUpstream)
	}
	if got := config.LuaSharedDicts["configuration_data"]; got != 20*1024 {
		t.Errorf("configuration_data has %d KB, want 20 MB", got)
	}
}

func TestDNSQueriesFollowIPv6(t *testing.T) {
	if options.Defaults(0, true).DisableIpv6DNS || !options.Defaults(0, false).DisableIpv6DNS {
		t.Error("disable-ipv6-dns does not follow the machine")
	}
}

func TestRowsAreComplete(t *testing.T) {
	name := regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	seen := make(map[string]bool)
	for _, key := range options.Keys() {
		if !name.MatchString(key.Name) || seen[key.Name] {
			t.Errorf("key %q is not a name, or is in the table twice", key.Name)
		}
		seen[key.Name] = true
		if key.Doc == "" || !strings.HasSuffix(key.Doc, ".") {
			t.Errorf("%s: doc %q is not a sentence", key.Name, key.Doc)
		}
	}
}

// parsed contains keys of the ConfigMap, their values, and the resulting changes of the defaults.
var parsed = map[string]struct {
	key, value string
	want       func(*options.Config)
	reason     string // expected in the finding
}{
	"bool":                  {"use-gzip", "true", func(c *options.Config) { c.UseGzip = true }, ""},
	"bool, not one":         {"use-gzip", "on", nil, "want true or false"},
	"number":                {"keep-alive", " 10 ", func(c *options.Config) { c.KeepAlive = 10 }, ""},
	"number, negative":      {"keep-alive", "-1", nil, "want a number from 0 to 2147483647"},
	"number, too high":      {"gzip-level", "10", nil, "want a number from 1 to 9"},
	"choice":                {"http-redirect-code", "301", func(c *options.Config) { c.HTTPRedirectCode = 301 }, ""},
	"choice, not one":       {"http-redirect-code", "303", nil, "want one of 301, 302, 307, 308"},
	"number, hexadecimal":   {"keep-alive", "0x10", func(c *options.Config) { c.KeepAlive = 16 }, ""},
	"number, octal":         {"keep-alive", "010", func(c *options.Config) { c.KeepAlive = 8 }, ""},
	"number, with a sign":   {"keep-alive", "+5", func(c *options.Config) { c.KeepAlive = 5 }, ""},
	"number, none":          {"keep-alive", "", func(c *options.Config) { c.KeepAlive = 0 }, ""},
	"number, none too low":  {"syslog-port", "", nil, "want a number from 1 to 65535"},
	"number, no digit":      {"keep-alive", "0x", nil, "want a whole number"},
	"number, too large":     {"keep-alive", "0xffffffffff", nil, "want a number from 0 to 2147483647"},
	"number, a choice":      {"http-redirect-code", "0x12d", func(c *options.Config) { c.HTTPRedirectCode = 301 }, ""},
	"item, decimal only":    {"custom-http-errors", "0x1f4", nil, `"0x1f4": want a whole number`},
	"switch, none":          {"hsts", "", func(c *options.Config) { c.HSTS = false }, ""},
	"fraction, none":        {"otel-sampler-ratio", "", func(c *options.Config) { c.OtelSamplerRatio = 0 }, ""},
	"size":                  {"proxy-body-size", "2G", func(c *options.Config) { c.ProxyBodySize = "2G" }, ""},
	"size, none":            {"proxy-body-size", "", func(c *options.Config) { c.ProxyBodySize = "" }, ""},
	"size, not one":         {"proxy-body-size", "2 m", nil, "want a size such as 512, 8k, 1m, 2g"},
	"size, too many digits": {"proxy-body-size", "99999999999999999999", nil, "want a size such as 512, 8k, 1m, 2g"},
	"size, not nginx's":     {"proxy-max-temp-file-size", "2g", nil, "want a size such as 512, 8k, 1m"},
	"time":                  {"worker-shutdown-timeout", "10s", func(c *options.Config) { c.WorkerShutdownTimeout = "10s" }, ""},
	"time, of units":        {"worker-shutdown-timeout", "1w2d3h4m5s6ms7", func(c *options.Config) { c.WorkerShutdownTimeout = "1w2d3h4m5s6ms7" }, ""},
	"time, no order":        {"worker-shutdown-timeout", "5s1m", nil, "want a time such as 10s, 500ms, 1h30m"},
	"time, of months":       {"worker-shutdown-timeout", "1M", nil, "want a time such as 10s, 500ms, 1h30m"},
	"time, none":            {"worker-shutdown-timeout", "", nil, "want a time such as 10s, 500ms, 1h30m"},
	"whole time":            {"ssl-session-timeout", "1M90", func(c *options.Config) { c.SSLSessionTimeout = "1M90" }, ""},
	"whole time, a part":    {"ssl-session-timeout", "500ms", nil, "want a time in whole seconds such as 10s, 1h30m"},
	"redirected, pattern":   {"proxy-redirect-from", `~^http://a\.b/`, func(c *options.Config) { c.ProxyRedirectFrom = `~^http://a\.b/` }, ""},
	"redirected, a quote":   {"proxy-redirect-from", `http://a"`, nil, "want one word without quotes, ; { }, which does not begin with #"},
	"variable, a brace":     {"limit-conn-zone-variable", "a{b", nil, "want nginx variables"},
	"words, ending a line":  {"proxy-next-upstream", "error; evil", nil, "want conditions of nginx's proxy_next_upstream such as error timeout http_502"},
	"words, in lines":       {"gzip-types", "text/css\r\n\n  text/plain \n", func(c *options.Config) { c.GzipTypes = "text/css text/plain" }, ""},
	"words, a comment":      {"gzip-types", "text/css # mine", nil, "want words without quotes, backslashes, ; { } #"},
	"word, a comment":       {"default-type", "#", nil, "want one word without quotes, ; { }, which does not begin with #"},
	"protocols":             {"ssl-protocols", "TLSv1.3", func(c *options.Config) { c.SSLProtocols = "TLSv1.3" }, ""},
	"protocols, not one":    {"ssl-protocols", "TLSv1.4", nil, "want versions such as TLSv1.2 TLSv1.3"},
	"buffers, no size":      {"large-client-header-buffers", "4", nil, "want a number and a size such as 4 8k, of at most 128m together"},
	"CPUs":                  {"worker-cpu-affinity", "auto", func(c *options.Config) { c.WorkerCPUAffinity = "auto" }, ""},
	"network, not nginx's":  {"block-cidrs", "255.255.255.255/32", nil, `"255.255.255.255/32": want an IP address or network`},
	"workers, auto":         {"worker-processes", "auto", func(c *options.Config) { c.WorkerProcesses = "auto" }, ""},
	"workers, none":         {"worker-processes", "0", nil, "want a number from 1 to 999, or auto"},
	"log format":            {"log-format-upstream", `{"a": "$b\'"}`, func(c *options.Config) { c.LogFormatUpstream = `{"a": "$b\'"}` }, ""},
	"log format, unquoted":  {"log-format-upstream", `it's`, nil, `want text with \' for each '`},
	"list":                  {"hide-headers", "A, ,B-C,", func(c *options.Config) { c.HideHeaders = []string{"A", "B-C"} }, ""},
	"list, empty":           {"proxy-real-ip-cidr", "", func(c *options.Config) { c.ProxyRealIPCIDR = nil }, ""},
	"list, bad item":        {"hide-headers", "A,b c,D", func(c *options.Config) { c.HideHeaders = []string{"A", "D"} }, `"b c": want a header name`},
	"list, all bad":         {"denylist-source-range", "10/8", nil, `"10/8": want an IP address or network`},
	"let in":                {"whitelist-source-range", "10.0.0.0/8,172.16", func(c *options.Config) { c.WhitelistSourceRange = []string{"10.0.0.0/8"} }, `"172.16": want an IP address or network`},
	"let in, all bad":       {"whitelist-source-range", "10/8", func(c *options.Config) { c.WhitelistSourceRange = []string{"0.0.0.0/32"} }, `"10/8": want an IP address or network`},
	"addresses":             {"bind-address", "127.0.0.1,::1", func(c *options.Config) { c.BindAddress = []string{"127.0.0.1", "::1"} }, ""},
	"networks":              {"proxy-real-ip-cidr", "10.0.0.0/8,::1", func(c *options.Config) { c.ProxyRealIPCIDR = []string{"10.0.0.0/8", "::1"} }, ""},
	"dictionary in MB":      {"lua-shared-dicts", "configuration_data: 5", dict("configuration_data", 5*1024), ""},
	"dictionary in KB":      {"lua-shared-dicts", "own: 512k", dict("own", 512), ""},
	"dictionary, too big":   {"lua-shared-dicts", "own: 201", nil, `"own: 201": want a size from 1k to 200M`},
	"dictionary, no size":   {"lua-shared-dicts", "own", nil, `"own": want name: size, with the size in MB or as 512k, 20M`},
	"numbers":               {"custom-http-errors", "404, 503", func(c *options.Config) { c.CustomHTTPErrors = []int{404, 503} }, ""},
	"numbers, none":         {"custom-http-errors", "", func(c *options.Config) { c.CustomHTTPErrors = nil }, ""},
	"numbers, too low":      {"custom-http-errors", "404,200", func(c *options.Config) { c.CustomHTTPErrors = []int{404} }, `"200": want a number from 300 to 599`},
	"fraction":              {"otel-sampler-ratio", "0.5", func(c *options.Config) { c.OtelSamplerRatio = 0.5 }, ""},
	"fraction, too high":    {"otel-sampler-ratio", "1.1", nil, "want a number from 0 to 1"},
	"fraction, not one":     {"otel-sampler-ratio", "NaN", nil, "want a number from 0 to 1"},
	"object":                {"add-headers", "ns/headers", func(c *options.Config) { c.AddHeaders = "ns/headers" }, ""},
	"object, half":          {"add-headers", "headers", nil, "want namespace/name"},
	"ticket key":            {"ssl-session-ticket-key", strings.Repeat("A", 64), func(c *options.Config) { c.SSLSessionTicketKey = strings.Repeat("A", 64) }, ""},
	"ticket key, short":     {"ssl-session-ticket-key", "AAAA", nil, "want 48 or 80 bytes in base64"},
	"authentication":        {"global-auth-url", "https://auth.example.com/ask?u=$uri", func(c *options.Config) { c.GlobalAuthURL = "https://auth.example.com/ask?u=$uri" }, ""},
	"authentication, text":  {"global-auth-url", "http://a/b%20c?d=(e)+f@g", func(c *options.Config) { c.GlobalAuthURL = "http://a/b%20c?d=(e)+f@g" }, ""},
	"authentication, user":  {"global-auth-url", "http://u@a/", func(c *options.Config) { c.GlobalAuthURL = options.Unanswered }, "want a URL with scheme and host, which may have variables"},
	"signing in":            {"global-auth-signin", "https://a/?b=%2F#/in", func(c *options.Config) { c.GlobalAuthSignin = "https://a/?b=%2F#/in" }, ""},
	"authentication, path":  {"global-auth-url", "/ask", func(c *options.Config) { c.GlobalAuthURL = options.Unanswered }, "want a URL with scheme and host, which may have variables"},
	"cached":                {"global-auth-cache-duration", "200 202 30m,any 1m", func(c *options.Config) { c.GlobalAuthCacheDuration = []string{"200 202 30m", "any 1m"} }, ""},
	"cached, no time":       {"global-auth-cache-duration", "200", func(c *options.Config) { c.GlobalAuthCacheDuration = []string{"200"} }, ""},
	"cached, not a time":    {"global-auth-cache-duration", "200 soon", nil, `"200 soon": want statuses and a time, such as 200 202 30m`},
	"declared, never read":  {"upstream-hash-by", "$uri", func(c *options.Config) { c.UpstreamHashBy = "$uri" }, ""},
	"too long":              {"default-type", strings.Repeat("a", 2001), nil, options.TooLong(strings.Repeat("a", 2001))},
	"too long a format":     {"log-format-upstream", strings.Repeat("a", 4001), nil, "want at most 4000 bytes, which nginx can read"},
	"list, too long":        {"hide-headers", manyHeaders(5001), func(c *options.Config) { c.HideHeaders = strings.Split(manyHeaders(5000), ",")[:5000] }, "want at most 5000 items"},
	"list, twice":           {"block-user-agents", "a,~b,A,~b", func(c *options.Config) { c.BlockUserAgents = []string{"a", "~b"} }, ""},
	"list, two patterns":    {"block-user-agents", "~Bot,~bot,~*x,~*X", func(c *options.Config) { c.BlockUserAgents = []string{"~Bot", "~bot", "~*x", "~*X"} }, ""},
	"list, two paths":       {"no-auth-locations", "/Public,/public", func(c *options.Config) { c.NoAuthLocations = []string{"/Public", "/public"} }, ""},
	"list, two words":       {"annotation-value-word-blocklist", "Secret,secret,secret", func(c *options.Config) { c.AnnotationValueWordBlocklist = []string{"Secret", "secret"} }, ""},
	"list, a header twice":  {"hide-headers", "X-A,x-a", func(c *options.Config) { c.HideHeaders = []string{"X-A"} }, ""},
	"list, a pattern":       {"block-user-agents", "a,~(", func(c *options.Config) { c.BlockUserAgents = []string{"a"} }, `"~(": want text or a pattern without quotes and line breaks`},
	"not logged":            {"skip-access-log-urls", "/health,~(,~^/a/", func(c *options.Config) { c.SkipAccessLogURLs = []string{"/health", "~^/a/"} }, `"~(": want text or a pattern without quotes and line breaks`},
	"words, a quote":        {"gzip-types", `text/css "text/html`, nil, "want words without quotes, backslashes, ; { } #"},
	"two words, a quote":    {"proxy-cookie-path", `/a "/b`, nil, "want off or two words without quotes, ; { } #"},
	"two words, the end":    {"proxy-cookie-path", `/a /b\`, nil, "want off or two words without quotes, ; { } #"},
	"two words, a pattern":  {"proxy-cookie-path", `~^/\w /b`, func(c *options.Config) { c.ProxyCookiePath = `~^/\w /b` }, ""},
	"ciphers":               {"ssl-ciphers", "HIGH:!aNULL", func(c *options.Config) { c.SSLCiphers = "HIGH:!aNULL" }, ""},
	"ciphers, none":         {"ssl-ciphers", "HIGH:!", nil, "want a list of ciphers that OpenSSL knows"},
	"curves":                {"ssl-ecdh-curve", "X25519:prime256v1", func(c *options.Config) { c.SSLECDHCurve = "X25519:prime256v1" }, ""},
	"curves, none":          {"ssl-ecdh-curve", "X25519:nothing", nil, "want auto, or curves such as X25519:prime256v1"},
	"buffered log":          {"access-log-params", "buffer=16k flush=5s", func(c *options.Config) { c.AccessLogParams = "buffer=16k flush=5s" }, ""},
	"log, never flushed":    {"access-log-params", "flush=5s", nil, "want parameters of access_log such as buffer=16k flush=5s gzip"},
	"syslog, no host":       {"enable-syslog", "true", nil, "there is no syslog-host"},
	"connections":           {"max-worker-connections", "1048577", nil, "want a number from 0 to 1048576"},
	"buffers of answers":    {"proxy-busy-buffers-size", "64m", nil, "proxy-busy-buffers-size is larger than all buffers but one"},
	"buffers of headers":    {"large-client-header-buffers", "1000 1m", nil, "want a number and a size such as 4 8k, of at most 128m together"},
	"a buffer, too large":   {"client-header-buffer-size", "2m", nil, "want at most 1m"},
	"dictionary, ours":      {"lua-shared-dicts", "luaconfig: 5", nil, "luaconfig is reserved by nginx.conf"},
	"dictionaries":          {"lua-shared-dicts", manyDicts(50), nil, "want at most 4096M together"},
	"unknown key":           {"use-gzp", "true", nil, "this controller has no such key; ignored; did you mean use-gzip?"},
}

func TestParse(t *testing.T) {
	defaults := options.Defaults(2, true)
	for name, test := range parsed {
		t.Run(name, func(t *testing.T) {
			want, _ := options.Parse(nil, options.Defaults(2, true))
			if test.want != nil {
				test.want(&want)
			}
			got, problems := options.Parse(map[string]string{test.key: test.value}, defaults)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("config (-want +got):\n%s", diff)
			}
			switch {
			case test.reason == "" && len(problems) > 0:
				t.Errorf("problem %v", problems)
			case test.reason != "" && (len(problems) != 1 || problems[0].Reason != test.reason):
				t.Errorf("problems %v, want %q", problems, test.reason)
			}
		})
	}
	if diff := cmp.Diff(options.Defaults(2, true), defaults); diff != "" {
		t.Errorf("parsing changed the defaults: %s", diff)
	}
}

func manyHeaders(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "X-%d,", i)
	}
	return list.String()
}

func manyDicts(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "d%d: 200,", i)
	}
	return list.String()
}

// A value with a variable that nginx does not have is not used, unless a snippet of the ConfigMap,
// or a user's template, may define the variable.
func TestUnknownVariables(t *testing.T) {
	defaults := options.Defaults(1, false)
	for name, test := range map[string]struct {
		data    map[string]string
		foreign bool
		reason  string
	}{
		"known":                         {map[string]string{"log-format-upstream": "$host ${status}"}, false, ""},
		"unknown":                       {map[string]string{"log-format-upstream": "$nothing"}, false, "nginx has no variable $nothing"},
		"no name":                       {map[string]string{"log-format-upstream": "a$"}, false, "nginx has no variable $"},
		"of a module":                   {map[string]string{"log-format-upstream": "$geoip2_city $otel_trace_id"}, false, ""},
		"of a snippet":                  {map[string]string{"log-format-upstream": "$mine", "http-snippet": "map $host $mine { default a; }"}, false, ""},
		"of a template":                 {map[string]string{"log-format-upstream": "$mine"}, true, ""},
		"of TCP":                        {map[string]string{"log-format-stream": "$session_time"}, false, ""},
		"of HTTP, for TCP":              {map[string]string{"log-format-stream": "$request"}, false, "nginx has no variable $request"},
		"in authentication":             {map[string]string{"global-auth-url": "http://a/$nothing"}, false, "nginx has no variable $nothing"},
		"protected port":                {map[string]string{"global-auth-url": "http://127.0.0.1:10246/healthz"}, false, options.ProtectedReason},
		"protected port, of a template": {map[string]string{"global-auth-url": "http://127.0.0.1:10246/healthz"}, true, options.ProtectedReason},
		"in limits":                     {map[string]string{"limit-conn-zone-variable": "$nothing"}, false, "nginx has no variable $nothing"},
		"in limits, with text":          {map[string]string{"limit-conn-zone-variable": "${http_x_user}-$host:$uri"}, false, ""},
		"in a redirect, a pattern":      {map[string]string{"proxy-redirect-from": `~^http://a\.b/(.*)$`}, false, ""},
		"in a redirect, no pattern":     {map[string]string{"proxy-redirect-from": "http://a/$nothing"}, false, "nginx has no variable $nothing"},
		"in a cookie, a pattern":        {map[string]string{"proxy-cookie-path": "~^/(.*)$ /b/$1"}, false, ""},
		"in a cookie, after a pattern":  {map[string]string{"proxy-cookie-path": "~^/(.*)$ /b/$nothing"}, false, "nginx has no variable $nothing"},
		"in a pattern":                  {map[string]string{"block-user-agents": "~a$"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options.Options{ForeignTemplate: test.foreign, Ports: options.DefaultPorts}
			var problems []options.Problem
			opts.Config, problems = options.Parse(test.data, defaults)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			kept, problems := opts.KeepUsable(defaults)
			switch {
			case test.reason == "" && (len(problems) > 0 || !reflect.DeepEqual(kept, opts)):
				t.Errorf("problems %v", problems)
			case test.reason != "" && (len(problems) != 1 || problems[0].Reason != test.reason || reflect.DeepEqual(kept, opts)):
				t.Errorf("problems %v, want %q", problems, test.reason)
			}
		})
	}
}

func TestTracersWithoutModule(t *testing.T) {
	defaults := options.Defaults(4, true)
	for name, test := range map[string]struct {
		data     map[string]string
		template bool // a user's template
		problems []string
	}{
		"default":       {data: map[string]string{"zipkin-collector-port": "9411"}},
		"set":           {data: map[string]string{"zipkin-collector-host": "zipkin", "datadog-sample-rate": "0.5"}, problems: []string{"zipkin-collector-host", "datadog-sample-rate"}},
		"of a snippet":  {data: map[string]string{"jaeger-collector-host": "jaeger", "http-snippet": "opentracing on;"}},
		"of a template": {data: map[string]string{"jaeger-collector-host": "jaeger"}, template: true},
	} {
		t.Run(name, func(t *testing.T) {
			opts := options.Options{ForeignTemplate: test.template, Ports: options.DefaultPorts}
			opts.Config, _ = options.Parse(test.data, defaults)
			_, problems := opts.KeepUsable(defaults)
			var keys []string
			for _, p := range problems {
				keys = append(keys, p.Key)
			}
			if !slices.Equal(keys, test.problems) {
				t.Errorf("problems with %v, want %v", keys, test.problems)
			}
		})
	}
}

func dict(name string, kb int) func(*options.Config) {
	return func(c *options.Config) { c.LuaSharedDicts[name] = kb }
}

func TestBindAddressesByFamily(t *testing.T) {
	config := options.Config{BindAddress: []string{"10.0.0.1", "fd00::1", "127.0.0.1"}}
	if got, want := config.BindAddressIpv4(), []string{"10.0.0.1", "127.0.0.1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("IPv4 %v, want %v", got, want)
	}
	if got, want := config.BindAddressIpv6(), []string{"[fd00::1]"}; !reflect.DeepEqual(got, want) {
		t.Errorf("IPv6 %v, want %v", got, want)
	}
}

func TestRootMovesOnlyOurFolders(t *testing.T) {
	opts := options.Options{Root: "/srv/a"}
	for file, want := range map[string]string{
		"/etc/nginx/nginx.conf":     "/srv/a/etc/nginx/nginx.conf",
		"/tmp/nginx":                "/srv/a/tmp/nginx",
		"/var/log/nginx/access.log": "/srv/a/var/log/nginx/access.log",
		"/var/log/nginxes/x":        "/var/log/nginxes/x",
		"/dev/stdout":               "/dev/stdout",
		"":                          "",
	} {
		if got := opts.Path(file); got != want {
			t.Errorf("Path(%q) = %q, want %q", file, got, want)
		}
	}
	if got := (options.Options{}).Path("/etc/nginx/lua"); got != "/etc/nginx/lua" {
		t.Errorf("without a root %q moved", got)
	}
}

func TestEveryKeyDeclaresItsProtection(t *testing.T) {
	for _, key := range options.Keys() {
		switch key.Protects {
		case options.Protecting, options.Harmless, options.Directives, options.Gate:
		default:
			t.Errorf("%s: the tag protects is %q: does an earlier value protect less?", key.Name, key.Protects)
		}
	}
}

// free are the types whose values may have several lines: text that is inserted into nginx.conf
// unchanged or quoted, and text that nginx.conf does not contain.
var free = map[string]bool{"text": true, "quoted": true, "list of texts": true, "dicts": true, "ticketkey": true}

// For any ConfigMap, each key gets its value or a problem. Parsing the displayed form of a good
// value returns the same value.
func FuzzParse(f *testing.F) {
	for _, key := range options.Keys() {
		f.Add(key.Name, key.Default)
	}
	f.Add("keep-alive", "99999999999999999999")
	f.Add("lua-shared-dicts", "a:1,b:2k,:3")
	f.Add("bind-address", "[::1],fe80::1%eth0")
	f.Add("no-such-key", "x")
	f.Add("bind-address", "fe80::1%eth0;\n}")
	for _, key := range options.Keys() {
		f.Add(key.Name, "1\n2")
	}
	f.Fuzz(func(t *testing.T, key, value string) {
		defaults := options.Defaults(2, true)
		config, problems := options.Parse(map[string]string{key: value}, defaults)
		instead := defaults
		switch key {
		case "global-auth-url":
			instead.GlobalAuthURL = options.Unanswered
		case "whitelist-source-range":
			instead.WhitelistSourceRange = []string{"0.0.0.0/32"}
		}
		if len(problems) > 0 && !reflect.DeepEqual(config, instead) && !isList(key) {
			t.Errorf("%s: %q is bad and still used", key, value)
		}
		if i := slices.IndexFunc(options.Keys(), func(k options.Key) bool { return k.Name == key }); i >= 0 && !free[options.Keys()[i].Type] {
			if line := lineBreak(reflect.ValueOf(config)); line != "" && line != lineBreak(reflect.ValueOf(defaults)) {
				t.Errorf("%s: %q leaves its directive", key, line)
			}
		}
		again, same := options.Parse(map[string]string{key: value}, config)
		if !reflect.DeepEqual(config, again) || len(same) != len(problems) {
			t.Errorf("%s: %q twice is not %q once", key, value, value)
		}
	})
}

// isList reports whether the key is a list; bad items do not invalidate its good items.
func isList(key string) bool {
	return slices.ContainsFunc(options.Keys(), func(k options.Key) bool { return k.Name == key && strings.HasPrefix(k.Type, "list of ") })
}

// lineBreak returns a multi-line text within value; empty if there is none.
func lineBreak(value reflect.Value) string {
	switch value.Kind() {
	case reflect.String:
		if text := value.String(); strings.ContainsAny(text, "\r\n") {
			return text
		}
	case reflect.Slice:
		for i := range value.Len() {
			if text := lineBreak(value.Index(i)); text != "" {
				return text
			}
		}
	case reflect.Struct:
		for i := range value.NumField() {
			if text := lineBreak(value.Field(i)); text != "" {
				return text
			}
		}
	}
	return ""
}
