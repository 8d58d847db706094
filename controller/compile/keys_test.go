package compile_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// shownElsewhere are the keys that do not affect nginx's input in this test, with the reason.
var shownElsewhere = map[string]string{
	"syslog-host":                  "enable-syslog, which needs it",
	"app-root":                     "declared by ingress-nginx and never read",
	"upstream-hash-by":             "declared by ingress-nginx and never read",
	"upstream-hash-by-subset":      "declared by ingress-nginx and never read",
	"upstream-hash-by-subset-size": "declared by ingress-nginx and never read",
	"enable-serial-reloads":        "when nginx reloads, not what it reads: package controller",
	"strict-validate-path-type":    "what admission accepts: package admission",
	"proxy-ssl-location-only":      "testdata/proxy-ssl-location-only.txtar",
	"ssl-dh-param":                 "testdata/tls-session-files.txtar",
}

// trial is a value of a key that differs from its default, and the other settings of the ConfigMap
// that it needs to have an effect, one "key: value" per line.
type trial struct{ value, besides string }

// trials are for the keys for which the test cannot derive a value from the type, or that need
// other settings.
var trials = map[string]trial{
	"disable-ipv6-dns":                    {"false", ""}, // the machine in the test has no IPv6
	"server-name-hash-bucket-size":        {"512", ""},
	"no-tls-redirect-locations":           {"/another", ""},
	"no-auth-locations":                   {"/another", ""},
	"enable-auth-access-log":              {"true", "global-auth-url: http://127.0.0.1/auth"},
	"worker-processes":                    {"7", ""},
	"worker-cpu-affinity":                 {"auto", ""},
	"bind-address":                        {"127.0.0.2", ""},
	"debug-connections":                   {"192.0.2.1", ""},
	"default-type":                        {"text/plain", ""},
	"http2-max-requests":                  {"7", ""},
	"access-log-params":                   {"buffer=16k", ""},
	"skip-access-log-urls":                {"/health", ""},
	"error-log-level":                     {"warn", ""},
	"syslog-port":                         {"515", "enable-syslog: true\nsyslog-host: 192.0.2.1"},
	"enable-syslog":                       {"true", "syslog-host: 192.0.2.1"},
	"gzip-types":                          {"text/css", "use-gzip: true"},
	"gzip-disable":                        {"msie6", "use-gzip: true"},
	"gzip-level":                          {"2", "use-gzip: true"},
	"gzip-min-length":                     {"257", "use-gzip: true"},
	"brotli-types":                        {"text/css", "enable-brotli: true"},
	"brotli-level":                        {"5", "enable-brotli: true"},
	"brotli-min-length":                   {"21", "enable-brotli: true"},
	"ssl-protocols":                       {"TLSv1.3", ""},
	"ssl-ciphers":                         {"HIGH", ""},
	"ssl-ecdh-curve":                      {"X25519", ""},
	"ssl-session-ticket-key":              {strings.Repeat("A", 64), ""},
	"ssl-session-cache-size":              {"11m", ""},
	"http-redirect-code":                  {"301", ""},
	"proxy-real-ip-cidr":                  {"192.0.2.0/24", "use-proxy-protocol: true"},
	"enable-real-ip":                      {"true", ""},
	"forwarded-for-header":                {"X-Client", "enable-real-ip: true"},
	"forwarded-host-header":               {"X-Host", "use-forwarded-headers: true"},
	"compute-full-forwarded-for":          {"true", "use-forwarded-headers: true"},
	"forwarded-for-proxy-protocol-header": {"X-Client", "use-proxy-protocol: true\nuse-forwarded-headers: true\ncompute-full-forwarded-for: true"},
	"proxy-protocol-header-timeout":       {"7s", "use-proxy-protocol: true"},
	"geoip2-autoreload-in-minutes":        {"7", "use-geoip2: true"},
	"block-user-agents":                   {"bot", ""},
	"block-referers":                      {"bot", ""},
	"limit-conn-zone-variable":            {"$server_name", ""},
	"limit-rate-after":                    {"7", "limit-rate: 7"},
	"global-auth-url":                     {"http://127.0.0.1/auth", ""},
	"load-balance":                        {"ewma", ""},
	"proxy-buffering":                     {"on", ""},
	"proxy-request-buffering":             {"off", ""},
	"proxy-http-version":                  {"1.0", ""},
	"proxy-cookie-domain":                 {"a.example b.example", ""},
	"proxy-cookie-path":                   {"/a /b", ""},
	"proxy-redirect-from":                 {"http://a.example/", "proxy-redirect-to: http://c.example/"},
	"proxy-redirect-to":                   {"http://a.example/", "proxy-redirect-from: http://c.example/"},
	"proxy-next-upstream":                 {"off", ""},
	"custom-http-errors":                  {"404", ""},
	"disable-proxy-intercept-errors":      {"true", "custom-http-errors: 404"},
	"proxy-set-headers":                   {"demo/headers", ""},
	"add-headers":                         {"demo/headers", ""},
	"modsecurity-snippet":                 {"SecRuleEngine On", "enable-modsecurity: true"},
	"enable-owasp-modsecurity-crs":        {"true", "enable-modsecurity: true"},
	"opentelemetry-config":                {"/etc/nginx/other.toml", ""},
	"opentelemetry-operation-name":        {"name", "enable-opentelemetry: true"},
	"opentelemetry-trust-incoming-span":   {"false", "enable-opentelemetry: true"},
	"otel-sampler-ratio":                  {"0.5", ""},
	"jaeger-sampler-type":                 {"remote", "jaeger-collector-host: a.example"},
	"jaeger-sampler-param":                {"0.5", "jaeger-collector-host: a.example"},
	"jaeger-sampler-host":                 {"http://b.example", "jaeger-collector-host: a.example"},
	"jaeger-propagation-format":           {"w3c", "jaeger-collector-host: a.example"},
	"zipkin-sample-rate":                  {"0.5", "zipkin-collector-host: a.example"},
	"datadog-sample-rate":                 {"0.5", "datadog-collector-host: a.example"},
	"annotations-risk-level":              {"Critical", "allow-snippet-annotations: true"},
	"allow-snippet-annotations":           {"true", "annotations-risk-level: Critical"},
	"annotation-value-word-blocklist":     {"shop-cookie", ""},
	"global-allowed-response-headers":     {"X-A", ""},
	"lua-shared-dicts":                    {"configuration_data: 30", ""},
	"nginx-status-ipv6-whitelist":         {"2001:db8::1", ""},
}

// besides maps prefixes of keys to the settings that these keys need to have an effect.
var besides = map[string]string{
	"global-auth-":       "global-auth-url: http://127.0.0.1/auth\nglobal-auth-signin: http://127.0.0.1/in\nglobal-auth-cache-key: $remote_user",
	"no-auth-locations":  "global-auth-url: http://127.0.0.1/auth",
	"zipkin-":            "zipkin-collector-host: a.example",
	"jaeger-":            "jaeger-collector-host: a.example",
	"datadog-":           "datadog-collector-host: a.example",
	"http2-max-":         "use-http2: true",
	"upstream-keepalive": "upstream-keepalive-connections: 7",
}

// Every key of the ConfigMap changes nginx's input, or is listed above.
func TestEveryKeyIsRead(t *testing.T) {
	t.Parallel()
	// Most keys have the same ConfigMap before the change.
	states := make(map[string]plan.State)
	stateBefore := func(t *testing.T, data map[string]string) plan.State {
		key := fmt.Sprint(data)
		if _, found := states[key]; !found {
			states[key] = stateWith(t, data)
		}
		return states[key]
	}
	for _, key := range options.Keys() {
		if shownElsewhere[key.Name] != "" {
			continue
		}
		t.Run(key.Name, func(t *testing.T) {
			value, data := another(key)
			before := stateBefore(t, data)
			data[key.Name] = value
			if reflect.DeepEqual(before, stateWith(t, data)) {
				t.Errorf("%s: %s does not change the configuration", key.Name, value)
			}
		})
	}
	for name := range shownElsewhere {
		if !knows(name) {
			t.Errorf("there is no key %s", name)
		}
	}
	for name := range trials {
		if !knows(name) {
			t.Errorf("there is no key %s", name)
		}
	}
}

func knows(name string) bool {
	for _, key := range options.Keys() {
		if key.Name == name {
			return true
		}
	}
	return false
}

// another returns a value that is not the default, and the ConfigMap for it.
func another(key options.Key) (value string, data map[string]string) {
	data = make(map[string]string)
	with := trials[key.Name].besides
	for start, text := range besides {
		if strings.HasPrefix(key.Name, start) {
			with = cmp.Or(with, text)
		}
	}
	for line := range strings.Lines(with) {
		name, said, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if name != key.Name {
			data[name] = said
		}
	}
	if value = trials[key.Name].value; value != "" {
		return value, data
	}
	switch strings.TrimPrefix(key.Type, "list of ") {
	case "bool":
		return strconv.FormatBool(key.Default != "true"), data
	case "number", "numbers":
		number, _ := strconv.Atoi(key.Default)
		return strconv.Itoa(number + 1), data
	case "size", "offset", "bytes":
		return "9k", data
	case "time", "wholetime":
		return "7s", data
	case "cidr":
		return "192.0.2.1", data
	case "header":
		return "X-Another", data
	case "url", "urlvars", "authurl":
		return "/another", data
	case "buffers":
		return "5 9k", data
	case "verb":
		return "PUT", data
	case "cachetime":
		return "200 7m", data
	case "object":
		return "demo/another", data
	default:
		return "another", data
	}
}

// stateWith returns the state for a cluster that uses many features, with this ConfigMap and all
// modules.
func stateWith(t *testing.T, data map[string]string) plan.State {
	t.Helper()
	opts := parse(flags{StreamLua: true, EnableSSLPassthrough: true, TCPServices: "demo/tcp", UDPServices: "demo/udp"}, data)
	if len(opts.problems) > 0 {
		t.Fatal(opts.problems)
	}
	source, err := everythingParsed()
	if err != nil {
		t.Fatal(err)
	}
	built, _ := model.Build(snapshot.Take(source), opts.Options)
	in := input(opts.Options)
	in.IPv6, in.StreamRealIP, in.GeoIPFiles = true, true, []string{"GeoLite2-City.mmdb"}
	in.Optional = make(map[string][]string)
	for _, module := range render.OptionalModules() {
		in.Optional[module] = nil
	}
	state, err := plan.Next(built, in)
	if err != nil {
		t.Fatal(err)
	}
	return state
}

var everything = `
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: web}
spec: {clusterIP: 10.96.0.7, ports: [{port: 80, targetPort: 8080}]}
---
apiVersion: v1
kind: Service
metadata: {namespace: demo, name: dns}
spec: {ports: [{port: 53, protocol: UDP, targetPort: 5353}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: web-1, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1]}]
ports: [{port: 8080}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: demo, name: dns-1, labels: {kubernetes.io/service-name: dns}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.2]}]
ports: [{port: 5353, protocol: UDP}]
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: demo, name: tcp}
data: {"9000": "demo/web:80"}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: demo, name: udp}
data: {"9053": "demo/dns:53"}
---
apiVersion: v1
kind: ConfigMap
metadata: {namespace: demo, name: headers}
data: {X-A: a}
---
apiVersion: v1
kind: Secret
metadata: {namespace: other, name: users}
data: {auth: dXNlcjpwYXNzd29yZAo=}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  namespace: demo
  name: web
  annotations:
    nginx.ingress.kubernetes.io/session-cookie-name: shop-cookie
    nginx.ingress.kubernetes.io/affinity: cookie
    nginx.ingress.kubernetes.io/custom-headers: demo/headers
    nginx.ingress.kubernetes.io/limit-rps: "5"
    nginx.ingress.kubernetes.io/limit-connections: "5"
spec:
  rules:
  - host: web.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  namespace: demo
  name: plain
spec:
  rules:
  - host: plain.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /another, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
` + annotated("grpc", `backend-protocol: GRPC`) +
	annotated("snippet", `configuration-snippet: "# of the user"`) +
	annotated("users", `auth-type: basic`, `auth-secret: other/users`) +
	annotated("passed", `ssl-passthrough: "true"`)

// annotated returns an ingress with its own host and these annotations.
func annotated(name string, annotations ...string) string {
	return fmt.Sprintf(`---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  namespace: demo
  name: %s
  annotations: {nginx.ingress.kubernetes.io/%s}
spec:
  rules:
  - host: %[1]s.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`, name, strings.Join(annotations, ", nginx.ingress.kubernetes.io/"))
}

// nginx accepts all of these values together.
func TestNginxAcceptsEveryKey(t *testing.T) {
	t.Parallel()
	all := make(map[string]string)
	for _, key := range options.Keys() {
		value, data := another(key)
		maps.Copy(data, all)
		all = data
		if !strings.HasSuffix(key.Name, "-snippet") && shownElsewhere[key.Name] == "" {
			all[key.Name] = value
		}
	}
	all["bind-address"] = "127.0.0.1"
	all["access-log-path"], all["error-log-path"], all["http-access-log-path"], all["stream-access-log-path"] = "/dev/null", "stderr", "", ""
	all["syslog-host"] = "127.0.0.1"
	opts := parse(flags{TCPServices: "demo/tcp", UDPServices: "demo/udp"}, all)
	if len(opts.problems) > 0 {
		t.Fatal(opts.problems)
	}
	source, err := everythingParsed()
	if err != nil {
		t.Fatal(err)
	}
	testConf(t, source, opts.Options)
}

// everythingParsed is the cluster of the manifests above. Nothing may modify it.
var everythingParsed = sync.OnceValues(func() (snapshot.Source, error) {
	return snapshot.FromYAML(snapshot.File{Name: "cluster.yaml", Data: []byte(everything)})
})
