package wire_test

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/wire"
)

func backends(t *testing.T, dynamic bool, list ...*model.Backend) string {
	t.Helper()
	text, err := wire.Backends(&model.Model{Backends: model.NewBackendList(list)}, options.Options{DynamicConfiguration: dynamic})
	if err != nil {
		t.Fatal(err)
	}
	return string(text.Body())
}

const nothing = `"sessionAffinityConfig":{"name":"","mode":"","cookieSessionAffinity":{"name":""}},"upstreamHashByConfig":{},"noServer":false,"trafficShapingPolicy":{"weight":0,"weightTotal":0,"header":"","headerValue":"","headerPattern":"","cookie":""}}]`

func TestBackends(t *testing.T) {
	service := &corev1.Service{Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7"}}
	service.Name, service.Labels = "not on the wire", map[string]string{"nor": "this"}
	for name, test := range map[string]struct {
		backend model.Backend
		want    string
	}{
		"with everything": {
			model.Backend{
				Name: "a", Service: service, Port: intstr.FromString("http"), LoadBalancing: "ewma",
				Endpoints: []model.Endpoint{{Address: "fd00::1", Port: "80"}},
				SessionAffinity: model.SessionAffinity{
					Affinity: annotations.Affinity{Type: "cookie", Mode: "persistent", CanaryBehavior: "not on the wire", Cookie: annotations.Cookie{
						Name: "sticky", Expires: "60", MaxAge: "-1", Path: "/p", Domain: "a.example", SameSite: "None",
						Secure: new(true), ConditionalSameSiteNone: true, ChangeOnFailure: true,
					}},
					Locations: map[string][]string{"b": {"/y"}, "a": {"/x", "/"}},
				},
				UpstreamHashBy:       annotations.UpstreamHashBy{By: "$request_uri", Subset: true, SubsetSize: 3},
				NoServer:             true,
				TrafficShapingPolicy: annotations.Canary{Enabled: true, Weight: 5, WeightTotal: 200, Header: "h", HeaderValue: "v", HeaderPattern: "p", Cookie: "c"},
				AlternativeBackends:  []string{"c1", "c2"},
				SSLPassthrough:       true,
			},
			`[{"name":"a","service":{"metadata":{},"spec":{"clusterIP":"10.96.0.7"},"status":{"loadBalancer":{}}},"port":"http","sslPassthrough":true,"endpoints":[{"address":"fd00::1","port":"80"}],` +
				`"sessionAffinityConfig":{"name":"cookie","mode":"persistent","cookieSessionAffinity":{"name":"sticky","expires":"60","maxage":"-1","locations":{"a":["/x","/"],"b":["/y"]},"secure":true,"path":"/p","domain":"a.example","samesite":"None","conditional_samesite_none":true,"change_on_failure":true}},` +
				`"upstreamHashByConfig":{"upstream-hash-by":"$request_uri","upstream-hash-by-subset":true,"upstream-hash-by-subset-size":3},"load-balance":"ewma","noServer":true,` +
				`"trafficShapingPolicy":{"weight":5,"weightTotal":200,"header":"h","headerValue":"v","headerPattern":"p","cookie":"c"},"alternativeBackends":["c1","c2"]}]`,
		},
		"with nothing": {
			model.Backend{Name: "a"},
			`[{"name":"a","port":0,"sslPassthrough":false,` + nothing,
		},
		"not secure is as if nothing was said": {
			model.Backend{Name: "a", SessionAffinity: model.SessionAffinity{Affinity: annotations.Affinity{Cookie: annotations.Cookie{Secure: new(false)}}}},
			`[{"name":"a","port":0,"sslPassthrough":false,` + nothing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := backends(t, true, &test.backend); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestNoBackendsInReloadMode(t *testing.T) {
	if got := backends(t, false, &model.Backend{Name: "a"}); got != "[]" {
		t.Errorf("got %s, want an empty list", got)
	}
}

func TestLuaConfigHasTheKeysAndTypesThatLuaReads(t *testing.T) {
	opts := options.Options{Config: options.Defaults(1, true), Ports: options.DefaultPorts}
	text, err := wire.LuaConfig(&model.Model{DefaultSSLCertificate: &model.SSLCert{PemFileName: "/ssl/default.pem"}}, opts)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	ports, ok := got["listen_ports"].(map[string]any)
	if !ok || ports["https"] != "443" || ports["status_port"] != "10246" {
		t.Errorf("listen_ports %v, want strings", got["listen_ports"])
	}
	if got["hsts_max_age"] != "31536000" || got["http_redirect_code"] != 308.0 || got["hsts"] != true {
		t.Errorf("got %s", text)
	}
	if got["default_certificate"] != "/ssl/default.pem" {
		t.Errorf("default_certificate %v", got["default_certificate"])
	}
	for _, key := range []string{"enable_metrics", "use_forwarded_headers", "use_proxy_protocol", "is_ssl_passthrough_enabled",
		"enable_ocsp", "monitor_batch_max_size", "hsts_include_subdomains", "hsts_preload"} {
		if _, ok := got[key]; !ok {
			t.Errorf("no %s", key)
		}
	}
}
