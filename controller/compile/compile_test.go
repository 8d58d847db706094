package compile_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

const shop = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {ports: [{port: 80}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
ports: [{port: 8080}]
endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - host: shop.example
    http:
      paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]
`

var configMap = types.NamespacedName{Namespace: "ingress-nginx", Name: "controller"}

// take returns a cluster from manifests and a ConfigMap for the controller.
func take(t *testing.T, manifests string, config map[string]string) snapshot.Snapshot {
	t.Helper()
	source, err := snapshot.FromYAML(snapshot.File{Name: "shop.yaml", Data: []byte(manifests)})
	if err != nil {
		t.Fatal(err)
	}
	cluster := snapshot.Take(source)
	cluster.ConfigMaps = map[types.NamespacedName]*corev1.ConfigMap{configMap: {Data: config}}
	return cluster
}

func shopInput() compile.Input {
	return compile.Input{
		Input: render.Input{
			Options: options.Options{
				Config: options.Defaults(2, false), Ports: options.DefaultPorts, DynamicConfiguration: true,
			},
			FileLimit: 65536,
		},
		ConfigMap: configMap,
	}
}

func texts(findings []model.Finding) string {
	var all []string
	for _, finding := range findings {
		all = append(all, finding.String())
	}
	return strings.Join(all, "\n")
}

func TestConfigMapOverridesFlags(t *testing.T) {
	cluster := take(t, shop, map[string]string{"keep-alive": "7", "keep-aliv": "8"})
	compiled, err := compile.Compile(cluster, shopInput())
	if err != nil {
		t.Fatal(err)
	}
	if conf := compiled.State.Conf.String(); !strings.Contains(conf, "keepalive_timeout 7s;") || !strings.Contains(conf, `server_name "shop.example";`) {
		t.Errorf("nginx.conf lacks keep-alive or the host:\n%s", conf)
	}
	if got := texts(compiled.Findings); !strings.HasPrefix(got, `ConfigMap ingress-nginx/controller: keep-aliv: "8":`) {
		t.Errorf("findings: %s", got)
	}
	if compiled.Input.Options.Config.KeepAlive != 7 {
		t.Errorf("the options have keep-alive %v, want 7", compiled.Input.Options.Config.KeepAlive)
	}
}

// One key must not prevent every reload, so a tracer file path that cannot be written has no
// effect.
func TestUnwritablePathIsAFinding(t *testing.T) {
	cluster := take(t, shop, map[string]string{"opentelemetry-config": "/etc/ingress-controller/none/otel.toml"})
	in := shopInput()
	var asked string
	in.Writable = func(path string) error {
		asked = path
		return errors.New("no such directory")
	}
	in.Options.Root = "/root-of-tests"
	built := compile.Build(cluster, in)
	if asked != "/root-of-tests/etc/ingress-controller/none/otel.toml" {
		t.Errorf("checked the path %q", asked)
	}
	defaults := options.Defaults(2, false).OpentelemetryConfig
	if got := built.Input.Options.Config.OpentelemetryConfig; got != defaults {
		t.Errorf("opentelemetry-config is %q, want %q", got, defaults)
	}
	if got := texts(built.Findings); !strings.Contains(got, "opentelemetry-config") || !strings.Contains(got, "no such directory") {
		t.Errorf("findings: %s", got)
	}
}

// If the template fails, the first half is still valid: its findings may explain the failure.
func TestFailingTemplateKeepsFirstHalf(t *testing.T) {
	template, err := render.Parse("my.tmpl", []byte("{{ .NoSuchField }}"))
	if err != nil {
		t.Fatal(err)
	}
	in := shopInput()
	in.Template = template
	compiled, err := compile.Compile(take(t, shop, map[string]string{"keep-aliv": "8"}), in)
	if err == nil || !strings.HasPrefix(err.Error(), "my.tmpl:1:") {
		t.Errorf("error %v, want one with the template's line", err)
	}
	if len(compiled.Model.Servers) != 2 || len(compiled.Findings) == 0 || compiled.State.Conf.Len() > 0 {
		t.Errorf("servers %d, findings %q, nginx.conf %q", len(compiled.Model.Servers), texts(compiled.Findings), compiled.State.Conf)
	}
}

func TestExpiringCertificatesAreFindings(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	pair, err := tls.Fake(now) // valid for a year
	if err != nil {
		t.Fatal(err)
	}
	cluster := take(t, strings.Replace(shop, "spec:\n  rules:", "spec:\n  tls: [{hosts: [ingress.local], secretName: own}]\n  rules:", 1), nil)
	name := types.NamespacedName{Namespace: "shop", Name: "own"}
	secret := &corev1.Secret{Data: map[string][]byte{corev1.TLSCertKey: []byte(pair.PEM), corev1.TLSPrivateKeyKey: []byte(pair.PEM)}}
	secret.Namespace, secret.Name, secret.UID = name.Namespace, name.Name, "uid"
	cluster.Secrets = map[types.NamespacedName]*corev1.Secret{name: secret}
	cluster.Ingresses[0].Spec.Rules[0].Host = "ingress.local"
	end := now.AddDate(1, 0, 0)
	for _, test := range []struct {
		now  time.Time
		want string
	}{
		{time.Time{}, ""},
		{end.Add(-11 * 24 * time.Hour), ""},
		{end.Add(-9 * 24 * time.Hour), "Secret shop/own: tls.crt: the certificate expires in less than 10 days"},
		{end.Add(24 * time.Hour), "Secret shop/own: tls.crt: the certificate expired at"},
	} {
		in := shopInput()
		in.Now = test.now
		got := texts(compile.Build(cluster, in).Findings)
		if test.want == "" && strings.Contains(got, "expire") || !strings.Contains(got, test.want) {
			t.Errorf("at %v: findings %q, want %q", test.now, got, test.want)
		}
	}
}

// A Compiler that compiled other clusters before returns the same result as Compile.
func TestCompilerMatchesCompile(t *testing.T) {
	var compiler compile.Compiler
	for i, step := range []struct{ manifests, key, value string }{
		{shop, "keep-alive", "7"},
		{strings.Replace(shop, "10.0.0.1", "10.0.0.2", 1), "keep-alive", "7"},
		{strings.Replace(shop, "10.0.0.1", "10.0.0.2", 1), "keep-alive", "8"},
		{strings.Replace(shop, "path: /,", "path: /a,", 1), "keep-alive", "8"},
		{shop, "use-gzip", "true"},
	} {
		cluster := take(t, step.manifests, map[string]string{step.key: step.value})
		got, err := compiler.Compile(cluster, shopInput())
		if err != nil {
			t.Fatal(err)
		}
		want, err := compile.Compile(cluster, shopInput())
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.State, want.State) || texts(got.Findings) != texts(want.Findings) {
			t.Errorf("step %d: the compiler differs from Compile", i)
		}
	}
}

// A Compiler reports what nginx lacks for the current cluster and the current nginx.
func TestCompilerReportsWhatNginxLacks(t *testing.T) {
	asks := strings.Replace(shop, "metadata: {name: web, namespace: shop}\nspec:\n  rules",
		"metadata: {name: web, namespace: shop, annotations: {"+prefix+"enable-modsecurity: 'true'}}\nspec:\n  rules", 1)
	with, without := take(t, asks, nil), take(t, shop, nil)
	bare, complete := shopInput(), shopInput()
	complete.Optional = map[string][]string{"http_modsecurity": nil}
	var compiler compile.Compiler
	for i, step := range []struct {
		cluster snapshot.Snapshot
		in      compile.Input
		want    string
	}{
		{with, bare, "no module http_modsecurity"},
		{with, bare, "no module http_modsecurity"},
		{with, complete, ""},
		{with, bare, "no module http_modsecurity"},
		{without, bare, ""},
	} {
		got := texts(compiler.Build(step.cluster, step.in).Findings)
		if (step.want == "") != !strings.Contains(got, "no module") || !strings.Contains(got, step.want) {
			t.Errorf("step %d: findings %q, want %q", i, got, step.want)
		}
	}
}

// nginx itself checks some GeoIP databases for changes. A change of any other database changes the
// state.
func TestDatabasesArePartOfTheState(t *testing.T) {
	for every, want := range map[string]int{"0": 1, "5": 0} {
		in := shopInput()
		in.Optional = map[string][]string{"http_geoip2": nil}
		in.GeoIPFiles = []string{"GeoLite2-City.mmdb"}
		in.Databases = map[string]string{"/etc/ingress-controller/geoip/GeoLite2-City.mmdb": "1 byte", "/other": "2"}
		compiled, err := compile.Compile(take(t, shop, map[string]string{"use-geoip2": "true", "geoip2-autoreload-in-minutes": every}), in)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(compiled.State.Foreign); got != want {
			t.Errorf("with geoip2-autoreload-in-minutes %s the state has %d databases, want %d:\n%s", every, got, want, compiled.State.Conf)
		}
	}
}
