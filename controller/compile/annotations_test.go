package compile_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
)

// nginx accepts the result of every case in the goldens of package annotations, all of them in one
// configuration.
func TestNginxAcceptsAnnotations(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../annotations/testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	cluster := ingresses{Source: new(snapshot.Manifests)}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		family := strings.TrimSuffix(filepath.Base(file), ".txtar")
		for _, f := range archive.Files {
			if name, isCase := strings.CutSuffix(f.Name, ".yaml"); isCase && !strings.HasSuffix(name, ".config") {
				cluster.all = append(cluster.all, asking(t, family+"-"+name, f.Data))
			}
		}
	}
	opts := parse(flags{}, map[string]string{"allow-cross-namespace-resources": "true"}).Options
	built, findings := model.Build(snapshot.Take(cluster), opts)
	if len(built.Servers) < 60 {
		t.Errorf("%d servers of %d ingresses: too many are left out: %v", len(built.Servers), len(cluster.all), findings)
	}
	testConf(t, cluster, opts)
}

// edges are values at or beyond the limits of what nginx accepts. Those beyond must be rejected.
// Names of variables are not tested here, because snippets in the ConfigMap can define any
// variable.
var edges = []string{
	`custom-http-errors: "499"`, `custom-http-errors: "599,400,494,495,497"`,
	`proxy-buffer-size: "0"`, `proxy-buffer-size: 999999999m`, "proxy-buffer-size: 2047m\nproxy-max-temp-file-size: \"0\"",
	`proxy-busy-buffers-size: "0"`, `proxy-busy-buffers-size: 4k`, `proxy-busy-buffers-size: 12k`, `proxy-busy-buffers-size: 13k`,
	`proxy-buffers-number: "1"`, `proxy-buffers-number: "2"`, `proxy-buffers-number: "3"`, `proxy-buffers-number: "2147483647"`,
	`proxy-max-temp-file-size: 1k`, `proxy-max-temp-file-size: 999999999m`, `proxy-body-size: 999999999g`,
	`proxy-connect-timeout: "0"`, `proxy-connect-timeout: "2147483647"`,
	`proxy-next-upstream: off off error`, `proxy-next-upstream: non_idempotent`,
	`proxy-cookie-domain: ~a b`, `proxy-cookie-domain: $ $`, `proxy-cookie-path: "~a b"`,
	"proxy-redirect-from: \"~a\"\nproxy-redirect-to: b", "proxy-redirect-from: \"~\"\nproxy-redirect-to: a", `proxy-redirect-from: default`, `proxy-redirect-to: default`,
	`rewrite-target: $`, `rewrite-target: /$1$`, `rewrite-target: /a$.`, `app-root: /$`, "rewrite-target: /a\nx-forwarded-prefix: $",
	`server-alias: ~(`, `server-alias: "*"`, `server-alias: a*b`, `server-alias: "~"`, `server-alias: "*.a.*"`, `server-alias: .`, `server-alias: ..`, `server-alias: .a, "*.b", c.*`,
	`ssl-ciphers: "@STRENGTH"`, `ssl-ciphers: "!aNULL"`, `ssl-ciphers: "HIGH:!unknown"`,
	`client-body-buffer-size: "0"`, `client-body-buffer-size: 999999999m`,
	`upstream-vhost: $`, `upstream-vhost: a${`, `upstream-vhost: \`, `permanent-redirect: "="`, `permanent-redirect: ","`, `temporal-redirect: "http://?"`,
	`limit-rps: "2147483647"`, `limit-rpm: "2147483647"`, "limit-rps: \"1000\"\nlimit-burst-multiplier: \"1000000\"", `limit-connections: "65535"`, `limit-connections: "65536"`,
	`limit-rate: "2147483647"`, `limit-rate-after: "2147483647"`, "limit-rps: \"1\"\nlimit-allowlist: 10.0.0.0/8,10.0.0.0/8,::/0,0.0.0.0/0",
	`allowlist-source-range: ::ffff:1.2.3.4/128,::ffff:1.2.3.4`, `denylist-source-range: 0.0.0.0/0`,
	"auth-url: http://a\nauth-signin: $", `auth-url: http://$`, `auth-url: http://a b`, `auth-url: http://a/b c`, `auth-url: ftp://a`, `auth-url: http://a:99999`, `auth-url: http://:80`,
	"auth-url: http://a\nauth-cache-key: $", "auth-url: http://a\nauth-cache-key: x\nauth-cache-duration: any 1M,999999999y", "auth-url: http://a\nauth-cache-key: x\nauth-cache-duration: 100 0ms",
	"auth-url: http://127.0.0.1\nauth-keepalive: \"2147483648\"", "auth-url: http://127.0.0.1:70000\nauth-keepalive: \"1\"", "auth-url: http://127.0.0.1\nauth-response-headers: -,_",
	`mirror-target: http://127.0.0.1$`, `mirror-target: http://a:1:2`, `mirror-target: http://nowhere.invalid`, "mirror-target: http://127.0.0.1\nmirror-host: $", `mirror-target: http://127.0.0.1/a\`, `mirror-target: http://a{b`,
	"enable-cors: \"true\"\ncors-allow-origin: http://a.b*", "enable-cors: \"true\"\ncors-allow-origin: a+b://c", "enable-cors: \"true\"\ncors-max-age: \"-1\"",
	"backend-protocol: FCGI\nfastcgi-index: \"-\"", `http2-push-preload: "true"`,
	"auth-url: http://a\nauth-response-headers: " + strings.Repeat("X", 47), "auth-url: http://a\nauth-response-headers: " + strings.Repeat("X", 1000),
	"backend-protocol: GRPC\nauth-url: http://a\nauth-response-headers: " + strings.Repeat("X", 46) + "," + strings.Repeat("Y", 47),
	"backend-protocol: FCGI\nauth-url: http://a\nauth-response-headers: " + strings.Repeat("X", 100),
	"proxy-ssl-secret: shop/client\nproxy-ssl-name: $nothing", "ssl-ciphers: HIGH:!", "ssl-ciphers: HIGH:+", "use-regex: \"true\"\nserver-alias: ~(?i)*",
	`upstream-vhost: ` + strings.Repeat("a", 4097), `auth-url: http://` + strings.Repeat("a", 4097), "auth-url: http://a/" + strings.Repeat("$x", 1000), "enable-cors: \"true\"\ncors-allow-headers: " + strings.Repeat("X-A,", 1200),
	"enable-cors: \"true\"\ncors-allow-origin: " + strings.Repeat("https://a.b.c.d.example,", 1200), `server-alias: ` + strings.Repeat("a.", 100) + "example", "rewrite-target: /" + strings.Repeat("$x", 300),
	"auth-tls-secret: shop/ca\nauth-tls-match-cn: CN=(?i)*",
}

// nginx accepts FastCGI with passwords, and limits of an ingress with the longest names that the
// API allows.
func TestNginxAcceptsLongNamesAndFastCGIPasswords(t *testing.T) {
	t.Parallel()
	cluster := ingresses{Source: passwords{new(snapshot.Manifests)}}
	for i, given := range []string{"backend-protocol: FCGI\nauth-type: basic\nauth-secret: users", "backend-protocol: GRPC\nauth-type: basic\nauth-secret: users", "limit-rps: \"5\"\nlimit-connections: \"5\""} {
		ingress := asking(t, fmt.Sprintf("long-%d", i), []byte(given))
		ingress.Name = strings.Repeat("a", 252) + fmt.Sprint(i)
		ingress.UID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
		cluster.all = append(cluster.all, ingress)
	}
	opts := parse(flags{}, nil).Options
	built, findings := model.Build(snapshot.Take(cluster), opts)
	if len(built.Servers) != 4 {
		t.Errorf("%d servers: %v", len(built.Servers), findings)
	}
	state, err := plan.Next(built, input(opts))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(state.Conf.String(), "fastcgi_set_header") || strings.Count(state.Conf.String(), "auth_basic_user_file") < 2 {
		t.Errorf("no passwords, or a directive that nginx does not have, in\n%s", state.Conf)
	}
	testConf(t, cluster, opts)
}

// passwords returns a Secret with passwords.
type passwords struct{ snapshot.Source }

func (passwords) Secrets() []*corev1.Secret {
	return []*corev1.Secret{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "users"}, Data: map[string][]byte{"auth": []byte("a:$1$b$c\n")}}}
}

func TestNginxAcceptsEdgeValues(t *testing.T) {
	t.Parallel()
	cluster := ingresses{Source: new(snapshot.Manifests)}
	for i, given := range edges {
		cluster.all = append(cluster.all, asking(t, fmt.Sprintf("edge-%d", i), []byte(given)))
	}
	testConf(t, cluster, parse(flags{}, nil).Options)
}

// ingresses is a source with ingresses only.
type ingresses struct {
	snapshot.Source
	all []*networkingv1.Ingress
}

func (i ingresses) Ingresses() []*networkingv1.Ingress { return i.all }

// asking returns an ingress with its own host and these annotations.
func asking(t *testing.T, name string, given []byte) *networkingv1.Ingress {
	t.Helper()
	var short map[string]string
	if err := yaml.Unmarshal(given, &short); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	all := make(map[string]string)
	for key, value := range short {
		all[annotations.DefaultPrefix+"/"+key] = value
	}
	path := networkingv1.HTTPIngressPath{Path: "/shop", PathType: new(networkingv1.PathTypePrefix), Backend: networkingv1.IngressBackend{
		Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}},
	}}
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: "6ba7b810", Annotations: all},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
			Host:             fmt.Sprintf("%s.example", name),
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}}},
		}}},
	}
}

// The Host of requests to the authentication service has no port, whether an annotation or the
// ConfigMap sets its URL.
func TestHostOfAuthenticationService(t *testing.T) {
	t.Parallel()
	const url = "http://auth.example:8080/check"
	for _, test := range []struct{ annotation, config string }{{"auth-url: " + url, ""}, {"", url}} {
		cluster := ingresses{Source: new(snapshot.Manifests), all: []*networkingv1.Ingress{asking(t, "web", []byte(test.annotation))}}
		opts := parse(flags{}, map[string]string{"global-auth-url": test.config}).Options
		built, _ := model.Build(snapshot.Take(cluster), opts)
		state, err := plan.Next(built, input(opts))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(state.Conf.String(), `proxy_set_header Host "auth.example";`) || strings.Contains(state.Conf.String(), `"auth.example:8080";`) {
			t.Errorf("%+v: no such Host in\n%s", test, state.Conf)
		}
	}
}
