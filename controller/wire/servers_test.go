package wire_test

import (
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

func TestServers(t *testing.T) {
	text, err := wire.Servers(certified("a.example", "a.example", "www.a.example", "alias.example"))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"certificates":{"00000000-0000-0000-0000-000000000000":"PEM of 00000000-0000-0000-0000-000000000000","u-1":"PEM of u-1"},` +
		`"servers":{"_":"00000000-0000-0000-0000-000000000000","a.example":"u-1","alias.example":"u-1","www.a.example":"u-1"}}`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

func TestServersMemo(t *testing.T) {
	m := certified("a.example", "a.example", "b.example")
	var memo wire.ServersMemo
	var last []byte
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
		got, err := memo.Servers(m)
		want, wantErr := wire.Servers(m)
		if err != nil || wantErr != nil || string(got) != string(want) {
			t.Errorf("%s: %s (%v), want %s (%v)", step.name, got, err, want, wantErr)
		}
		if same := len(last) > 0 && &got[0] == &last[0]; same != step.same {
			t.Errorf("%s: the same bytes: %v, want %v", step.name, same, step.same)
		}
		last = got
	}
}

func TestServersAfter(t *testing.T) {
	for _, test := range []struct{ running, next, want string }{
		{"", `{"certificates":{},"servers":{"a":"1"}}`, `{"certificates":{},"servers":{"a":"1"}}`},
		{`{"servers":{"a":"1","b":"2"}}`, `{"certificates":{"2":"x"},"servers":{"b":"2"}}`, `{"certificates":{"2":"x"},"servers":{"a":"-1","b":"2"}}`},
	} {
		got, err := wire.ServersAfter([]byte(test.running), []byte(test.next))
		if err != nil || string(got) != test.want {
			t.Errorf("after %s: %s (%v), want %s", test.running, got, err, test.want)
		}
	}
	if _, err := wire.ServersAfter([]byte("{"), []byte("{}")); err == nil {
		t.Error("no error for invalid JSON")
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

func TestServersKeeping(t *testing.T) {
	for _, test := range []struct{ running, next, want string }{
		{``, `{"certificates":{"b":"B"},"servers":{"x":"b"}}`, `{"certificates":{"b":"B"},"servers":{"x":"b"}}`},
		{`{"certificates":{"a":"A","c":"C"},"servers":{"x":"a","y":"c"}}`, `{"certificates":{"b":"B"},"servers":{"x":"b"}}`,
			`{"certificates":{"b":"B","c":"C"},"servers":{"x":"b","y":"c"}}`},
	} {
		got, err := wire.ServersKeeping([]byte(test.running), []byte(test.next))
		if err != nil || string(got) != test.want {
			t.Errorf("got %s, %v, want %s", got, err, test.want)
		}
	}
	if _, err := wire.ServersKeeping([]byte("["), []byte("{}")); err == nil {
		t.Error("no error for invalid JSON")
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
