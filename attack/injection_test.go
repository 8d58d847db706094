package attack_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
)

// allModules returns the input for an nginx that has all modules.
func allModules() render.Input {
	in := render.Input{
		Options: flags("/root-of-tests"), Optional: make(map[string][]string), HTTP2Directive: true, StreamRealIP: true,
		Resolvers: []string{"10.96.0.10"}, Backlog: 511, FileLimit: 65536, GeoIPFiles: []string{"GeoLite2-City.mmdb"},
	}
	for _, module := range render.OptionalModules() {
		in.Optional[module] = nil
	}
	return in
}

// grammar contains permitted directives, by place, with their numbers of parameters.
type grammar map[string]map[int]bool

// add adds the directives of a configuration.
func (g grammar) add(nodes []node) {
	walk(nodes, "", func(place string, n node) {
		if g[place] == nil {
			g[place] = make(map[int]bool)
		}
		g[place][len(n.args)] = true
	})
}

// benignSeeds is the number of configurations without hostile values that make the whole grammar.
const benignSeeds = 60

// benign is the grammar of the first configurations without hostile values. It grows only as far as
// needed, because rendering all of them takes most of the time of a test.
var benign = struct {
	grammar
	seeds uint64
}{grammar: make(grammar)}

// permitted reports whether the grammar satisfies a condition. It adds configurations to the grammar
// until it does, or none is left.
func permitted(is func(grammar) bool) bool {
	for !is(benign.grammar) {
		if benign.seeds == benignSeeds {
			return false
		}
		benign.add(benignConf(benign.seeds))
		benign.seeds++
	}
	return true
}

// benignConf returns a configuration without hostile values.
func benignConf(seed uint64) []node {
	random := rand.New(rand.NewPCG(seed, 3))
	c := ready()
	c.services[0].Spec.Ports = append(c.services[0].Spec.Ports, corev1.ServicePort{Port: 80, Protocol: corev1.ProtocolUDP})
	c.slices[0].Ports = append(c.slices[0].Ports, discoveryv1.EndpointPort{Port: new(int32(8080)), Protocol: new(corev1.ProtocolUDP)})
	c.configMaps = append(c.configMaps, &corev1.ConfigMap{ObjectMeta: named("udp-services"), Data: map[string]string{"9000": namespace + "/web:80"}})
	c.configMaps = append(c.configMaps, &corev1.ConfigMap{ObjectMeta: named("tcp-services"), Data: map[string]string{"9000": namespace + "/web:80:PROXY:PROXY", "9001": namespace + "/web:80", "9002": namespace + "/web:80:PROXY"}})
	for i := range 60 {
		given := make(map[string]string)
		for range 1 + random.IntN(4) {
			key := keys[random.IntN(len(keys))]
			maps.Copy(given, key.enabled(sample(random, key.Name)))
		}
		if i < len(keys) && seed == 0 {
			given = keys[i].enabled(sample(random, keys[i].Name))
		}
		if i < len(together) {
			given = together[i]
		}
		one := ingress(fmt.Sprintf("i%d", i), given)
		if random.IntN(4) == 0 {
			pathOf(one).PathType = new(networkingv1.PathTypeExact)
		}
		c.ingresses = append(c.ingresses, one)
	}
	c.config = map[string]string{"global-allowed-response-headers": "X-A"}
	for _, key := range options.Keys() {
		if value := plainValues[key.Name]; value != "" && random.IntN(2) == 0 {
			c.config[key.Name] = value
		} else if key.Type == "bool" && random.IntN(3) == 0 {
			c.config[key.Name] = fmt.Sprint(key.Default != "true")
		}
	}
	in := allModules()
	in.HTTP2Directive = seed%2 == 0
	in.Options.DynamicConfiguration = seed%3 > 0
	if seed%3 == 1 {
		in.Options.Stream = options.LuaStream
	}
	in.Options.EnableSSLPassthrough = seed%5 == 0
	o, err := stages(c, in)
	if err != nil {
		panic(err)
	}
	nodes, err := tree(o.state.Conf.Bytes())
	if err != nil {
		panic(err)
	}
	return nodes
}

// together are rare combinations of annotations.
var together = []map[string]string{
	{"proxy-ssl-secret": "shop/ca", "backend-protocol": "GRPCS", "proxy-ssl-name": "a", "proxy-ssl-verify": "on"},
	{"proxy-ssl-secret": "shop/ca", "backend-protocol": "FCGI"},
	{"auth-tls-secret": "shop/missing"},
	{"auth-type": "basic", "auth-secret": "users", "backend-protocol": "FCGI"},
	{"auth-type": "basic", "auth-secret": "users", "backend-protocol": "GRPC"},
	{"auth-url": "http://a.example", "auth-response-headers": "X-A", "backend-protocol": "GRPC", "custom-headers": "shop/headers", "enable-cors": "true"},
	{"auth-url": "http://a.example", "auth-response-headers": "X-A", "auth-keepalive": "4"}, // done in Lua if the ConfigMap disables HTTP/2
	{"auth-url": "http://a.example", "auth-response-headers": "X-A", "backend-protocol": "FCGI", "custom-headers": "shop/headers", "enable-cors": "true", "fastcgi-params-configmap": "shop/headers"},
}

// plainValues are values for keys of the ConfigMap that are not booleans and are rendered only if
// set.
var plainValues = map[string]string{
	"worker-cpu-affinity": "auto", "debug-connections": "10.0.0.1", "grpc-buffer-size-kb": "4", "http2-max-field-size": "4k", "http2-max-header-size": "4k", "http2-max-requests": "7",
	"access-log-params": "buffer=16k", "syslog-host": "10.0.0.1", "gzip-disable": "msie6", "ssl-session-ticket-key": strings.Repeat("A", 64), "bind-address": "127.0.0.1",
	"geoip2-autoreload-in-minutes": "5", "denylist-source-range": "10.0.0.0/8", "whitelist-source-range": "10.0.0.0/8", "block-cidrs": "10.0.0.0/8", "block-user-agents": "a,~b", "block-referers": "a,~b",
	"global-auth-url": "http://auth.example", "global-auth-method": "GET", "global-auth-signin": "http://auth.example/in", "global-auth-response-headers": "X-User", "global-auth-cache-key": "$remote_user",
	"custom-http-errors": "404,503", "proxy-set-headers": "shop/headers", "add-headers": "shop/headers", "hide-headers": "X-A", "proxy-busy-buffers-size": "8k", "limit-rate": "5", "limit-rate-after": "5",
	"opentelemetry-operation-name": "a", "skip-access-log-urls": "/a", "proxy-redirect-from": "http://a", "proxy-redirect-to": "http://b", "proxy-cookie-path": "/a /b", "proxy-next-upstream": "error",
}

// manyParameters are directives with a variable number of parameters.
var manyParameters = strings.Fields("server_name proxy_next_upstream fastcgi_next_upstream grpc_next_upstream ssl_protocols proxy_ssl_protocols gzip_types brotli_types proxy_cache_valid worker_cpu_affinity access_log error_log resolver gzip_disable")

// walk calls f for each directive, with the names of the blocks around it. Entries of maps are not
// directives.
func walk(nodes []node, in string, f func(place string, n node)) {
	for _, n := range nodes {
		place := in + " " + n.args[0]
		if strings.HasSuffix(in, " map") || strings.HasSuffix(in, " geo") || strings.HasSuffix(in, " geoip2") {
			place = in + " entry"
			n.args = make([]string, 2)
		}
		f(place, n)
		walk(n.block, place, f)
	}
}

// injected describes a part of a configuration that a benign one cannot have; empty if there is
// none.
func injected(o outcome) string {
	nodes, err := tree(o.state.Conf.Bytes())
	if err != nil {
		return fmt.Sprintf("nginx cannot parse it: %v", err)
	}
	found := ""
	walk(nodes, "", func(place string, n node) {
		switch {
		case found != "":
		case !permitted(func(g grammar) bool { return g[place] != nil }):
			found = fmt.Sprintf("unknown directive%s, line %d:\n%s", place, n.line, around(o.state.Conf.Bytes(), n.line))
		case !o.options.SkipAnnotationValidation && !slices.Contains(manyParameters, n.args[0]) && !permitted(func(g grammar) bool { return g[place][len(n.args)] }):
			found = fmt.Sprintf("%s has %d parameters, line %d:\n%s", place, len(n.args)-1, n.line, around(o.state.Conf.Bytes(), n.line))
		}
	})
	if found != "" {
		return found
	}
	if i := slices.IndexFunc(nodes, func(n node) bool { return n.args[0] == "http" }); i < 0 {
		return "no http block"
	} else if servers := count(nodes[i].block, "server"); servers != len(o.model.Servers)+len(o.model.RedirectServers)+2 {
		return fmt.Sprintf("%d servers for %d hosts and %d redirects", servers, len(o.model.Servers), len(o.model.RedirectServers))
	}
	for file := range o.state.Files {
		if filepath.Clean(file) != file || !strings.HasPrefix(file, o.options.Root+"/etc/") {
			return "unexpected file " + file
		}
	}
	return ""
}

// No text of an object escapes from its directive: a configuration from hostile objects has no
// directive, block or parameter that a benign one cannot have.
func TestNothingIsInjected(t *testing.T) {
	together := attack.Times(60, 250)
	row := attack.Row{Target: "model and render", Attack: "hostile Ingresses, ConfigMaps, Secrets and Services", Success: "a directive, block, parameter or file that no benign configuration has"}
	reported := make(map[string]bool)
	for seed := uint64(0); row.Tried < attack.Times(8*together, 1_000_000); seed++ { // eight batches include each kind
		random := rand.New(rand.NewPCG(seed, 4))
		c, objects := hostileCluster(random, together)
		in := allModules()
		in.HTTP2Directive = seed%2 == 0
		in.Options.DynamicConfiguration = seed%4 > 0
		in.Options.SkipAnnotationValidation = seed%8 == 7
		if seed%3 == 0 {
			in.Options.Stream = options.LuaStream
		}
		o, err := stages(c, in)
		if err != nil {
			t.Fatal(err)
		}
		row.Tried += objects
		if what := injected(o); what != "" {
			row.Landed++
			if kind, _, _ := strings.Cut(what, ","); !reported[kind] {
				reported[kind] = true
				t.Errorf("seed %d: %s", seed, what)
			}
		}
	}
	attack.Report(t, row)
}

// published are published vulnerabilities of ingress-nginx, each with ingresses that an attacker
// would create.
var published = []struct {
	cve, what string
	ingresses []*networkingv1.Ingress
}{
	{"CVE-2021-25742", "snippets of ingresses, which may read the controller's token", []*networkingv1.Ingress{
		ingress("a", map[string]string{"server-snippet": "location /injected { alias /; }"}),
		ingress("b", map[string]string{"configuration-snippet": "injected on;"}),
		ingress("c", map[string]string{"stream-snippet": "server { injected on; }"}),
	}},
	{"CVE-2021-25745", "spec.rules[].http.paths[].path that leaves its location", []*networkingv1.Ingress{
		withPath("/a{ alias /; } location ~* ^/b", networkingv1.PathTypeImplementationSpecific),
		withPath(`/a" { injected on; } location "/b`, networkingv1.PathTypePrefix),
		withPath(`/a/(.*)" break; injected on; rewrite "(?i)/b`, networkingv1.PathTypeExact),
	}},
	{"CVE-2021-25746", "annotations that leave their directive", []*networkingv1.Ingress{
		ingress("a", map[string]string{"auth-realm": `x"; injected on; #`, "auth-type": "basic", "auth-secret": "users"}),
		ingress("b", map[string]string{"proxy-cookie-path": "/ /; injected on"}),
		ingress("c", map[string]string{"cors-allow-methods": `GET"; injected on; "`, "enable-cors": "true"}),
		ingress("d", map[string]string{"app-root": "/a; injected on"}),
	}},
	{"CVE-2021-25748", "a line break in a path", []*networkingv1.Ingress{
		withPath("/a\n{ injected on; } location /b", networkingv1.PathTypeExact),
		withPath("/a\r\ninjected on;\r\n", networkingv1.PathTypePrefix),
	}},
	{"CVE-2022-4886", "a path that the check for log_format and others lets through", []*networkingv1.Ingress{
		withPath(`/a" { root /; injected on; } #`, networkingv1.PathTypeImplementationSpecific),
		withPath("/${injected}/a;injected on;", networkingv1.PathTypeImplementationSpecific),
	}},
	{"CVE-2023-5043", "nginx.ingress.kubernetes.io/configuration-snippet", []*networkingv1.Ingress{
		ingress("a", map[string]string{"configuration-snippet": "}\ninjected on;\nlocation /b {"}),
	}},
	{"CVE-2023-5044", "nginx.ingress.kubernetes.io/permanent-redirect", []*networkingv1.Ingress{
		ingress("a", map[string]string{"permanent-redirect": "https://a.example/; injected on"}),
		ingress("b", map[string]string{"permanent-redirect": "https://a.example;}location ~* ^/injected{ alias /;}"}),
	}},
	{"CVE-2024-7646", "a carriage return in an annotation", []*networkingv1.Ingress{
		ingress("a", map[string]string{"auth-url": "http://a.example/\rinjected on;", "auth-signin": "http://b/\rinjected on;\r"}),
		ingress("b", map[string]string{"upstream-vhost": "a\rinjected on;\r"}),
		ingress("c", map[string]string{"load-balance": "ewma\r; injected on;"}),
	}},
	{"CVE-2025-1097", "nginx.ingress.kubernetes.io/auth-tls-match-cn", []*networkingv1.Ingress{
		ingress("a", map[string]string{"auth-tls-secret": "shop/ca", "auth-tls-match-cn": "CN=abc #(\n){}\n }}\ninjected on;\n#"}),
		ingress("b", map[string]string{"auth-tls-secret": "shop/ca", "auth-tls-match-cn": `CN=a" ) { return 200; } injected on; #`}),
	}},
	{"CVE-2025-1098", "the UID of an ingress with mirror-target", []*networkingv1.Ingress{
		withUID("x {\n}\n}\ninjected on;\n#", map[string]string{"mirror-target": "http://a.example"}),
		withUID(`"; injected on; "`, map[string]string{"mirror-target": "http://a.example", "limit-rps": "1"}),
	}},
	{"CVE-2025-24513", "path traversal by the name of a Secret of passwords", []*networkingv1.Ingress{
		ingress("a", map[string]string{"auth-type": "basic", "auth-secret": "../../../injected"}),
		ingress("b", map[string]string{"auth-type": "basic", "auth-secret": "shop/..%2f..%2finjected", "auth-secret-type": "auth-map"}),
		ingress("c", map[string]string{"auth-tls-secret": "shop/../injected"}),
	}},
	{"CVE-2025-24514", "nginx.ingress.kubernetes.io/auth-url", []*networkingv1.Ingress{
		ingress("a", map[string]string{"auth-url": "http://a.example/#;\ninjected on;\n#"}),
		ingress("b", map[string]string{"auth-url": "http://a.example/;injected on"}),
		ingress("c", map[string]string{"auth-url": `http://a.example/"; injected on; "`}),
	}},
	{"CVE-2025-1974", "an admission review whose configuration nginx -t would execute", []*networkingv1.Ingress{
		ingress("a", map[string]string{"auth-url": "http://a.example/#;}}}\nssl_engine /proc/1/fd/3;\n#"}),
		withUID("a;\n}}}\nload_module /proc/1/fd/injected;\n#", map[string]string{"mirror-target": "http://a.example"}),
	}},
}

func withPath(text string, kind networkingv1.PathType) *networkingv1.Ingress {
	i := ingress("web", map[string]string{"rewrite-target": "/$1", "use-regex": "true"})
	pathOf(i).Path, pathOf(i).PathType = text, &kind
	return i
}

func withUID(uid string, given map[string]string) *networkingv1.Ingress {
	i := ingress("web", given)
	i.UID = types.UID(uid)
	return i
}

func TestPublishedAttacks(t *testing.T) {
	for _, class := range published {
		row := attack.Row{Target: "model and render", Attack: class.cve + ": " + class.what, Success: "a directive, block, parameter or file that no benign configuration has"}
		for i, ingress := range class.ingresses {
			for _, validated := range []bool{true, false} {
				c := ready()
				c.ingresses = []*networkingv1.Ingress{ingress}
				c.config = map[string]string{"annotations-risk-level": "Critical"}
				in := allModules()
				in.Options.SkipAnnotationValidation = !validated
				o, err := stages(c, in)
				if err != nil {
					t.Fatal(err)
				}
				row.Tried++
				if what := injected(o); what != "" {
					row.Landed++
					t.Errorf("%s, %d, validated %t: %s", class.cve, i, validated, what)
				}
			}
		}
		attack.Report(t, row)
	}
}
