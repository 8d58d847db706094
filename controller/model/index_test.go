package model_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// A change of one ingress rebuilds the servers of others only if it can affect them. Package render
// renders a server again if it is a different object.
func TestServersOfOneServiceAreIndependent(t *testing.T) {
	t.Parallel()
	const fallback, affinity = annotations.DefaultPrefix + "/default-backend", annotations.DefaultPrefix + "/affinity"
	for name, c := range map[string]struct {
		all, changed map[string]string // annotations of all ingresses at first, and of one ingress later
		others       int               // the number of other servers that are rebuilt
	}{
		"a path":                          {nil, nil, 0},
		"a setting of the location":       {nil, map[string]string{annotations.DefaultPrefix + "/proxy-body-size": "2m"}, 0},
		"the same default backend":        {map[string]string{fallback: "errors"}, map[string]string{fallback: "errors"}, 0},
		"no default backend any more":     {map[string]string{fallback: "errors"}, nil, 0},
		"the same setting of the backend": {map[string]string{annotations.DefaultPrefix + "/load-balance": "ewma"}, map[string]string{annotations.DefaultPrefix + "/load-balance": "ewma"}, 0},
		"another setting of the backend":  {nil, map[string]string{annotations.DefaultPrefix + "/load-balance": "ewma"}, 4},
		"session affinity of the backend": {nil, map[string]string{affinity: "cookie"}, 4},
		"the same session affinity":       {map[string]string{affinity: "cookie"}, map[string]string{affinity: "cookie"}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ledger := snapshot.NewLedger()
			for _, service := range []string{"web", "errors"} {
				meta := metav1.ObjectMeta{Namespace: "demo", Name: service, Labels: map[string]string{discoveryv1.LabelServiceName: service}}
				ledger.Put(&corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
				ledger.Put(&discoveryv1.EndpointSlice{
					ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4,
					Ports:     []discoveryv1.EndpointPort{{Port: new(int32(80)), Protocol: new(corev1.ProtocolTCP)}},
					Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}},
				})
			}
			site := func(host int, text string, annotated map[string]string) *networkingv1.Ingress {
				site := ingress("web", path(text, false))
				site.Name, site.Annotations = fmt.Sprint("site-", host), annotated
				site.Spec.Rules[0].Host = fmt.Sprintf("%d.example", host)
				return site
			}
			const sites = 5
			for host := range sites {
				ledger.Put(site(host, "/", c.all))
			}
			var memo model.Memo
			opts := options.Options{Config: options.Defaults(1, false)}
			before, _ := memo.Build(ledger.Snapshot(), opts)
			ledger.Put(site(2, "/p", c.changed))
			after, findings := memo.Build(ledger.Snapshot(), opts)
			again := 0
			for i, server := range after.Servers {
				switch {
				case server.Hostname == "2.example":
					if server == before.Servers[i] {
						t.Errorf("the changed server is not built again")
					}
				case server != before.Servers[i]:
					again++
				}
			}
			if again != c.others || len(after.Servers) != sites+1 || len(findings) > 0 {
				t.Errorf("%d of %d other servers are built again, want %d; findings %v", again, len(after.Servers)-1, c.others, findings)
			}
		})
	}
}
