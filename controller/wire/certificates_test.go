package wire_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/wire"
	"windtunnel.dev/internal/pki"
)

// certified returns the model of a host with a certificate for the given hosts.
func certified(host string, hosts ...string) *model.Model {
	pair := pki.New("root").Issue("", hosts)
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	ingress.Annotations = map[string]string{
		"nginx.ingress.kubernetes.io/server-alias":         "alias.example,other.example",
		"nginx.ingress.kubernetes.io/from-to-www-redirect": "true",
	}
	ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{host}, SecretName: "web"}}
	ingress.Spec.Rules = []networkingv1.IngressRule{{Host: host}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web", UID: "u-1"}, Data: map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key}}
	config, _ := options.Parse(nil, options.Defaults(1, false))
	m, _ := model.Build(snapshot.Snapshot{
		Ingresses: []*networkingv1.Ingress{ingress},
		Secrets:   map[types.NamespacedName]*corev1.Secret{{Namespace: "demo", Name: "web"}: secret},
	}, options.Options{Config: config})
	for _, server := range m.Servers {
		if server.SSLCert != nil {
			server.SSLCert.PemCertKey = "PEM of " + server.SSLCert.UID
		}
	}
	return m
}

// body returns the body of a POST to an nginx that has received no certificates.
func body(t *testing.T, c wire.Certificates) string {
	t.Helper()
	return bodyAfter(t, wire.Certificates{}, c, false)
}

func bodyAfter(t *testing.T, running, next wire.Certificates, onlyChanges bool) string {
	t.Helper()
	text, err := next.Body(running, onlyChanges)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// certificatesOf returns certificates from texts such as host=UID and UID=PEM; UIDs are digits.
func certificatesOf(texts ...string) wire.Certificates {
	pems, hosts := map[string]string{}, map[string]string{}
	for _, text := range texts {
		key, value, _ := strings.Cut(text, "=")
		if strings.Trim(key, "0123456789") == "" {
			pems[key] = value
		} else {
			hosts[key] = value
		}
	}
	return wire.NewCertificates(pems, hosts)
}

func TestCertificatesOf(t *testing.T) {
	got := body(t, wire.CertificatesOf(certified("a.example", "a.example", "www.a.example", "alias.example")))
	want := `{"certificates":{"00000000-0000-0000-0000-000000000000":"PEM of 00000000-0000-0000-0000-000000000000","u-1":"PEM of u-1"},` +
		`"servers":{"_":"00000000-0000-0000-0000-000000000000","a.example":"u-1","alias.example":"u-1","www.a.example":"u-1"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCertificatesMemo(t *testing.T) {
	m := certified("a.example", "a.example", "b.example")
	var memo wire.CertificatesMemo
	var last wire.Certificates
	for _, step := range []struct {
		name   string
		change func()
		same   bool
	}{
		{"the first", func() {}, false},
		{"nothing", func() {}, true},
		{"a renewed certificate", func() { m.Servers[1].SSLCert.PemCertKey = "renewed" }, false},
		{"a removed host", func() { m.Servers[1].SSLCert = nil }, false},
		{"nothing again", func() {}, true},
	} {
		step.change()
		got, want := memo.Of(m), wire.CertificatesOf(m)
		if body(t, got) != body(t, want) || !got.Equal(want) {
			t.Errorf("%s: %s, want %s", step.name, body(t, got), body(t, want))
		}
		if same := got == last; same != step.same {
			t.Errorf("%s: the same value: %v, want %v", step.name, same, step.same)
		}
		if equal := got.Equal(last); equal != step.same {
			t.Errorf("%s: equal to the last value: %v, want %v", step.name, equal, step.same)
		}
		last = got
	}
}

func TestCertificatesBody(t *testing.T) {
	for _, test := range []struct {
		running, next wire.Certificates
		all, changes  string
	}{
		{
			wire.Certificates{}, certificatesOf("a=1"),
			`{"certificates":{},"servers":{"a":"1"}}`,
			`{"certificates":{},"servers":{"a":"1"}}`,
		},
		{
			certificatesOf("a=1", "b=2", "1=x", "2=y"), certificatesOf("b=2", "2=y"),
			`{"certificates":{"2":"y"},"servers":{"a":"-1","b":"2"}}`,
			`{"certificates":{},"servers":{"a":"-1"}}`,
		},
		{
			certificatesOf("a=1", "b=2", "1=x", "2=y"), certificatesOf("a=1", "b=2", "c=3", "1=renewed", "2=y", "3=z"),
			`{"certificates":{"1":"renewed","2":"y","3":"z"},"servers":{"a":"1","b":"2","c":"3"}}`,
			`{"certificates":{"1":"renewed","3":"z"},"servers":{"c":"3"}}`,
		},
		{
			certificatesOf("a=1", "b=2", "1=x", "2=y"), certificatesOf("a=2", "b=2", "2=y"),
			`{"certificates":{"2":"y"},"servers":{"a":"2","b":"2"}}`,
			`{"certificates":{},"servers":{"a":"2"}}`,
		},
	} {
		before := body(t, test.next)
		if got := bodyAfter(t, test.running, test.next, false); got != test.all {
			t.Errorf("all: %s, want %s", got, test.all)
		}
		if got := bodyAfter(t, test.running, test.next, true); got != test.changes {
			t.Errorf("changes: %s, want %s", got, test.changes)
		}
		if after := body(t, test.next); after != before {
			t.Errorf("the certificates are %s after Body, want %s", after, before)
		}
	}
}

func TestPassthrough(t *testing.T) {
	m := &model.Model{PassthroughBackends: []model.PassthroughBackend{{Hostname: "a.example", Address: "10.96.0.7:443"}}}
	opts := options.Options{Ports: options.DefaultPorts}
	if text, err := wire.PassthroughOf(m, opts); text != nil || err != nil {
		t.Errorf("without the flag: %s, %v", text, err)
	}
	opts.EnableSSLPassthrough = true
	opts.Config.UseProxyProtocol, opts.Config.ProxyProtocolHeaderTimeout = true, "5s"
	for want, addresses := range map[string][]string{
		`{"addresses":[":443"],"proxyProtocol":true,"headerTimeout":5000000000,"nginx":"127.0.0.1:442","hosts":{"a.example":"10.96.0.7:443"}}`:                      nil,
		`{"addresses":["127.0.0.1:443","[::1]:443"],"proxyProtocol":true,"headerTimeout":5000000000,"nginx":"127.0.0.1:442","hosts":{"a.example":"10.96.0.7:443"}}`: {"127.0.0.1", "::1"},
	} {
		opts.Config.BindAddress = addresses
		if text, err := wire.PassthroughOf(m, opts); string(text) != want || err != nil {
			t.Errorf("got %s (%v), want %s", text, err, want)
		}
	}
}

// With disable-ipv6, neither nginx nor the TLS listener in front of it listens on IPv6.
func TestPassthroughWithoutIPv6(t *testing.T) {
	opts := options.Options{Ports: options.DefaultPorts, EnableSSLPassthrough: true}
	opts.Config.DisableIpv6 = true
	for want, addresses := range map[string][]string{
		`["0.0.0.0:443"]`:   nil,
		`["127.0.0.1:443"]`: {"127.0.0.1", "::1"},
	} {
		opts.Config.BindAddress = addresses
		text, err := wire.PassthroughOf(&model.Model{}, opts)
		if err != nil || !strings.HasPrefix(string(text), `{"addresses":`+want) {
			t.Errorf("got %s (%v), want %s", text, err, want)
		}
	}
}

func TestCertificatesKeeping(t *testing.T) {
	for _, test := range []struct{ running, next, want wire.Certificates }{
		{wire.Certificates{}, certificatesOf("2=B", "x=2"), certificatesOf("2=B", "x=2")},
		{certificatesOf("x=1"), wire.Certificates{}, wire.Certificates{}},
		{certificatesOf("1=A", "3=C", "x=1", "y=3"), certificatesOf("2=B", "x=2"), certificatesOf("2=B", "3=C", "x=2", "y=3")},
	} {
		if got := test.next.Keeping(test.running); !got.Equal(test.want) {
			t.Errorf("got %s, want %s", body(t, got), body(t, test.want))
		}
	}
}

func TestListKeeping(t *testing.T) {
	a, b, newer, c := &wire.Backend{Name: "a", JSON: []byte("1")}, &wire.Backend{Name: "b", JSON: []byte("1")}, &wire.Backend{Name: "b", JSON: []byte("2")}, &wire.Backend{Name: "c"}
	if got := wire.NewList(newer, c).Keeping(wire.NewList(a, b)); !got.Equal(wire.NewList(a, newer, c)) {
		t.Errorf("got %s", got.Body())
	}
	if got := wire.NewList(newer).Keeping(wire.List{}); !got.Equal(wire.NewList(newer)) {
		t.Errorf("got %s", got.Body())
	}
}
