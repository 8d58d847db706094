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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/attack"
	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
)

// fragments are texts that would end a directive, a block, a string or a comment, and texts that an
// attacker would add after them.
var fragments = []string{
	`"`, `'`, `;`, `{`, `}`, "\n", "\r", "\r\n", "\t", "\v", "\f", "\x00", "\x7f", "\u0085", "\u2028", "\u00a0", "é", "\xff\xfe", `\`, `\\`, `\"`, `\'`, `#`, " # ", `$`, `${`, `${}`, `$}`, "`",
	`; injected on;`, `"; injected on; #`, `'; injected on; #`, "\ninjected on;\n", "\rinjected on;\r", `} injected {`, `}} injected { } server { location / {`, `"} injected on; {"`,
	`;} location /injected { return 200; } #`, `\"; injected on; #`, `\\"; injected on; #`, `$host"; injected on; "`, `${host}"; injected on; "`, `")) injected on; ((`, "x;\r\ninjected on;\r\n#",
	"]] injected on; [[", "--]] injected", "\" } \n injected on; \n { \"", `{ injected on; }`, `(?<injected>.*)`, ` injected on`, `%0ainjected on;`, "//\ninjected on;\n", `;load_module /tmp/injected.so;`,
	`";access_by_lua_block { injected() } #`, "\\\ninjected on;", `a b c`, `../../../injected`, `/../injected`, `injected/../../x`, `$(injected)`, `{{ injected }}`, `<injected>`, `\x22; injected on;`, "\\n injected on;", "\ufeff", "\u202e",
	`=on injected`, `:injected on;`, `|injected`, `&injected`, "'\n\"\ninjected on;", `\u0022; injected on;`, `"" injected on;`, `'' injected on;`, `) injected (`, `);injected on;(`,
}

// hostile returns a value with such fragments in it.
func hostile(random *rand.Rand, base string) string {
	for range 1 + random.IntN(3) {
		at := random.IntN(len(base) + 1)
		switch random.IntN(6) {
		case 0:
			at = 0
		case 1:
			at = len(base)
		}
		base = base[:at] + fragments[random.IntN(len(fragments))] + base[at:]
	}
	if random.IntN(40) == 0 {
		base += strings.Repeat(fragments[random.IntN(len(fragments))], 1+random.IntN(400))
	}
	return base
}

// sample returns a valid value of a key, from which other values are made.
func sample(random *rand.Rand, name string) string {
	if good := samples[name]; len(good) > 0 {
		return good[random.IntN(len(good))]
	}
	return []string{"true", "5", "a", "on", "/a", ""}[random.IntN(6)]
}

// hostileIngress returns an ingress with one or more hostile texts.
func hostileIngress(random *rand.Rand, name string) *networkingv1.Ingress {
	given := make(map[string]string)
	for range 1 + random.IntN(3) {
		key := everyKey[random.IntN(len(everyKey))]
		maps.Copy(given, key.enabled(hostile(random, sample(random, key.Name))))
		if len(key.Aliases) > 0 && random.IntN(2) == 0 {
			given[key.Aliases[0]] = given[key.Name]
		}
	}
	i := ingress(name, given)
	rule := &i.Spec.Rules[0]
	switch random.IntN(16) {
	case 0:
		i.Name = hostile(random, name)
	case 1:
		i.Namespace = hostile(random, namespace)
	case 2:
		i.UID = types.UID(hostile(random, defaultUID))
	case 3:
		rule.Host = hostile(random, rule.Host)
	case 4:
		pathOf(i).Backend.Service.Name = hostile(random, "web")
	case 5:
		pathOf(i).Backend.Service.Port = networkingv1.ServiceBackendPort{Name: hostile(random, "http")}
	case 6:
		i.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{hostile(random, rule.Host)}, SecretName: hostile(random, "ca")}}
	case 7:
		i.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: hostile(random, "web"), Port: networkingv1.ServiceBackendPort{Number: 80}}}
	case 8, 9, 10, 11:
		pathOf(i).Path = hostile(random, "/shop")
	}
	if random.IntN(4) == 0 {
		pathOf(i).PathType = new(networkingv1.PathType(hostile(random, "Exact")))
	}
	if random.IntN(4) == 0 {
		pathOf(i).PathType = new(networkingv1.PathTypeExact)
	}
	return i
}

// everyKey lists all annotations. Snippets are disabled, so they must have no effect.
var everyKey = func() []keyOf {
	var all []keyOf
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			all = append(all, keyOf{family.Name, key})
		}
	}
	return all
}()

// hostileCluster returns a cluster with n hostile ingresses and other hostile objects that
// ingresses name, and the number of objects.
func hostileCluster(random *rand.Rand, n int) (c *population, objects int) {
	c = ready()
	for i := range n {
		c.ingresses = append(c.ingresses, hostileIngress(random, fmt.Sprintf("i%d", i)))
	}
	for i := range n / 50 {
		name := fmt.Sprintf("hostile-%d", i)
		c.configMaps = append(c.configMaps, &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{
			hostile(random, "X-A"): "a", "X-B": hostile(random, "b"), "X-C": hostile(random, "$host"),
		}})
		c.services = append(c.services,
			&corev1.Service{ObjectMeta: named(name), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: hostile(random, "a.example"), Ports: []corev1.ServicePort{{Port: 80}}}},
			&corev1.Service{ObjectMeta: named(hostile(random, name)), Spec: corev1.ServiceSpec{ClusterIP: hostile(random, "10.0.0.9"), Ports: []corev1.ServicePort{{Name: hostile(random, "http"), Port: 80}}}})
		meta := named(name)
		if i%2 == 0 {
			meta.UID = types.UID(hostile(random, defaultUID))
		}
		c.secrets = append(c.secrets, &corev1.Secret{ObjectMeta: meta, Data: map[string][]byte{
			"auth": []byte(hostile(random, "a:b")), "ca.crt": []byte(hostile(random, "x")), hostile(random, "user"): []byte(hostile(random, "p")),
			"dhparam.pem": []byte(hostile(random, "x")), "ca.crl": []byte(hostile(random, "x")),
		}})
		objects += addNames(random, c, name)
		c.ingresses = append(c.ingresses, ingress("names-"+name, map[string]string{
			"custom-headers": namespace + "/" + name, "auth-url": "http://a.example", "auth-proxy-set-headers": name, "fastcgi-params-configmap": name,
			"backend-protocol": []string{"HTTP", "FCGI", "GRPC"}[i%3], "auth-type": "basic", "auth-secret": name, "auth-secret-type": []string{"auth-file", "auth-map"}[i%2], "service-upstream": "true",
		}))
		pathOf(c.ingresses[len(c.ingresses)-1]).Backend.Service.Name = name
		objects += 5
	}
	c.configMaps = append(c.configMaps, hostilePorts(random, c, "tcp-services"), hostilePorts(random, c, "udp-services"))
	c.config = hostileConfig(random)
	return c, objects + n + 3
}

// addNames adds objects that have hostile names, and ingresses that name them exactly. It returns
// the number of objects.
func addNames(random *rand.Rand, c *population, name string) int {
	service, secret, headers := hostile(random, name), hostile(random, name), hostile(random, name)
	c.services = append(c.services, &corev1.Service{ObjectMeta: named(service), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: hostile(random, "http"), Port: 80}, {Port: 80, Protocol: corev1.ProtocolUDP},
	}}})
	c.slices = append(c.slices, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}},
		Ports: []discoveryv1.EndpointPort{
			{Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP), Name: &c.services[len(c.services)-1].Spec.Ports[0].Name},
			{Port: new(int32(8080)), Protocol: new(corev1.ProtocolUDP)},
		},
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.3", hostile(random, "10.0.0.4")}, Zone: new(hostile(random, "z"))}},
	})
	pem := []byte(certificate().PEM)
	c.secrets = append(c.secrets, &corev1.Secret{ObjectMeta: named(secret), Data: map[string][]byte{
		"ca.crt": pem, "tls.crt": pem, "tls.key": pem, "auth": []byte("a:b"),
	}})
	c.configMaps = append(c.configMaps, &corev1.ConfigMap{ObjectMeta: named(headers), Data: map[string]string{"X-B": "b"}})
	for i, given := range []map[string]string{
		{"auth-tls-secret": namespace + "/" + secret, "proxy-ssl-secret": namespace + "/" + secret, "backend-protocol": "HTTPS"},
		{"auth-type": "basic", "auth-secret": secret, "custom-headers": namespace + "/" + headers, "default-backend": service, "custom-http-errors": "404"},
		{"auth-url": "http://a.example", "auth-proxy-set-headers": namespace + "/" + headers, "limit-rps": "1"},
	} {
		one := ingress(fmt.Sprintf("names-%d-%s", i, name), given)
		pathOf(one).Backend.Service.Name = service
		one.Spec.TLS = []networkingv1.IngressTLS{{SecretName: secret}}
		c.ingresses = append(c.ingresses, one)
	}
	return 7
}

// hostilePorts returns a ConfigMap of TCP or UDP services.
func hostilePorts(random *rand.Rand, c *population, name string) *corev1.ConfigMap {
	service := c.services[random.IntN(len(c.services))].Name
	return &corev1.ConfigMap{ObjectMeta: named(name), Data: map[string]string{
		"9000": namespace + "/web:80", hostile(random, "9001"): namespace + "/web:80", "9002": hostile(random, namespace+"/web:80"), "9003": namespace + "/web:80:" + hostile(random, "PROXY"),
		"9004": namespace + "/" + service + ":80", "9005": namespace + "/" + service + ":" + hostile(random, "http"),
	}}
}

// hostileConfig returns the data of the controller's ConfigMap, with hostile values and without
// snippets.
func hostileConfig(random *rand.Rand) map[string]string {
	config := map[string]string{"global-allowed-response-headers": "X-B,X-C", "annotations-risk-level": "Critical"}
	for range random.IntN(12) {
		key := configKeys[random.IntN(len(configKeys))]
		config[key.Name] = hostile(random, key.Default)
	}
	if random.IntN(3) == 0 {
		maps.Copy(config, turnedOn)
	}
	for _, key := range []string{"add-headers", "proxy-set-headers", "ssl-dh-param"} {
		if random.IntN(2) == 0 {
			config[key] = namespace + "/hostile-0"
		}
	}
	return config
}

var configKeys = slices.DeleteFunc(options.Keys(), func(k options.Key) bool {
	return strings.HasSuffix(k.Name, "-snippet") || k.Name == "annotations-risk-level"
})

// turnedOn enables the features that render the texts of the ConfigMap.
var turnedOn = map[string]string{
	"use-gzip": "true", "use-geoip2": "true", "enable-brotli": "true", "enable-modsecurity": "true", "enable-opentelemetry": "true", "use-proxy-protocol": "true",
	"use-forwarded-headers": "true", "compute-full-forwarded-for": "true", "global-auth-url": "http://auth.example/", "use-http2": "false", "disable-ipv6": "true",
}

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

// permitted reports whether the grammar satisfies a condition, with as many configurations as
// that takes.
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
	nodes, err := tree(o.state.Conf)
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
	nodes, err := tree(o.state.Conf)
	if err != nil {
		return fmt.Sprintf("nginx cannot parse it: %v", err)
	}
	found := ""
	walk(nodes, "", func(place string, n node) {
		switch {
		case found != "":
		case !permitted(func(g grammar) bool { return g[place] != nil }):
			found = fmt.Sprintf("unknown directive%s, line %d:\n%s", place, n.line, around(o.state.Conf, n.line))
		case !o.options.SkipAnnotationValidation && !slices.Contains(manyParameters, n.args[0]) && !permitted(func(g grammar) bool { return g[place][len(n.args)] }):
			found = fmt.Sprintf("%s has %d parameters, line %d:\n%s", place, len(n.args)-1, n.line, around(o.state.Conf, n.line))
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
