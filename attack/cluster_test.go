package attack_test

import (
	"fmt"
	"maps"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

// population contains the objects of a cluster; it is a snapshot.Source.
type population struct {
	ingresses  []*networkingv1.Ingress
	services   []*corev1.Service
	slices     []*discoveryv1.EndpointSlice
	secrets    []*corev1.Secret
	configMaps []*corev1.ConfigMap
	config     map[string]string // the controller's ConfigMap
}

func (c *population) Ingresses() []*networkingv1.Ingress           { return c.ingresses }
func (c *population) Services() []*corev1.Service                  { return c.services }
func (c *population) EndpointSlices() []*discoveryv1.EndpointSlice { return c.slices }
func (c *population) Secrets() []*corev1.Secret                    { return c.secrets }
func (c *population) ConfigMaps() []*corev1.ConfigMap              { return c.configMaps }

const (
	namespace  = "shop"
	defaultUID = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
)

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: defaultUID, CreationTimestamp: metav1.Unix(1, 0)}
}

// ready returns a cluster with a service that has pods, the objects that annotations name, and no
// ingress.
func ready() *population {
	return &population{
		services: []*corev1.Service{{ObjectMeta: named("web"), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}},
		slices: []*discoveryv1.EndpointSlice{{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "web-1", Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
			Ports:      []discoveryv1.EndpointPort{{Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}, {Addresses: []string{"10.0.0.2"}}},
		}},
		secrets: []*corev1.Secret{
			{ObjectMeta: named("users"), Data: map[string][]byte{"auth": []byte("a:$1$b$c\n")}},
			{ObjectMeta: named("ca"), Data: map[string][]byte{"ca.crt": []byte(certificate().PEM), "tls.crt": []byte(certificate().PEM), "tls.key": []byte(certificate().PEM)}},
		},
		configMaps: []*corev1.ConfigMap{{ObjectMeta: named("headers"), Data: map[string]string{"X-A": "a"}}},
	}
}

var certificate = func() func() *tls.Pair {
	pair, err := tls.Fake(time.Now())
	if err != nil {
		panic(err)
	}
	return func() *tls.Pair { return pair }
}()

// ingress returns an ingress for its own host, NAME.example, to the service web; the annotations
// are given without their prefix.
func ingress(name string, given map[string]string) *networkingv1.Ingress {
	meta := named(name)
	meta.Annotations = make(map[string]string)
	for key, value := range given {
		meta.Annotations[annotations.DefaultPrefix+"/"+key] = value
	}
	return &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{
		Host: name + ".example",
		IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
			Path: "/shop", PathType: new(networkingv1.PathTypeImplementationSpecific), Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}},
			},
		}}}},
	}}}}
}

// pathOf returns the only path of an ingress.
func pathOf(i *networkingv1.Ingress) *networkingv1.HTTPIngressPath {
	return &i.Spec.Rules[0].HTTP.Paths[0]
}

// enabling lists, by family, annotations without which the others have no effect.
var enabling = map[string]map[string]string{
	"session affinity":        {"affinity": "cookie"},
	"passwords":               {"auth-type": "basic", "auth-secret": "users"},
	"client certificates":     {"auth-tls-secret": namespace + "/ca"},
	"canaries":                {"canary": "true"},
	"cross-origin requests":   {"enable-cors": "true"},
	"external authentication": {"auth-url": "http://auth.example/check"},
	"mirroring":               {"mirror-target": "http://copy.example$request_uri"},
	"TLS to pods":             {"proxy-ssl-secret": namespace + "/ca", "backend-protocol": "HTTPS"},
	"limits":                  {"limit-rps": "5"},
	"FastCGI":                 {"backend-protocol": "FCGI"},
	"redirects":               {},
}

// keyOf is an annotation with its family.
type keyOf struct {
	family string
	annotations.Key
}

// keys are all annotations except snippets, which are directives by design.
var keys = func() []keyOf {
	var all []keyOf
	for _, family := range annotations.Families() {
		for _, key := range family.Keys {
			if !strings.HasSuffix(key.Name, "-snippet") {
				all = append(all, keyOf{family.Name, key})
			}
		}
	}
	return all
}()

// enabled returns the key with a value, and the annotations that it needs to have an effect.
func (k keyOf) enabled(value string) map[string]string {
	given := maps.Clone(enabling[k.family])
	if given == nil {
		given = make(map[string]string)
	}
	given[k.Name] = value
	return given
}

// flags returns the controller's options, with a root folder for all paths.
func flags(root string) options.Options {
	return options.Options{
		Config: options.Defaults(1, false), DynamicConfiguration: true, Root: root, DefaultCertificate: certificate(),
		DefaultBackendService: types.NamespacedName{}, Stream: options.PlainStream,
		TCPServices: types.NamespacedName{Namespace: namespace, Name: "tcp-services"},
		UDPServices: types.NamespacedName{Namespace: namespace, Name: "udp-services"},
		Ports:       options.Ports{HTTP: 18080, HTTPS: 18443, Default: 18181, Status: 18246, Stream: 18247, Health: 18254, SSLProxy: 18442},
	}
}

// outcome is the result of the pure stages for a cluster.
type outcome struct {
	state    plan.State
	model    *model.Model
	findings []string
	options  options.Options
}

// stages runs the pure stages as a sync does.
func stages(c *population, in render.Input) (outcome, error) {
	var o outcome
	opts := in.Options
	var ofOptions []options.Problem
	if c.config != nil {
		defaults := opts.Config
		opts.Config, ofOptions = options.Parse(c.config, defaults)
		var unknown []options.Problem
		opts, unknown = opts.KeepUsable(defaults)
		ofOptions = append(ofOptions, unknown...)
	}
	for _, problem := range ofOptions {
		o.findings = append(o.findings, problem.String())
	}
	built, ofModel := model.Build(snapshot.Take(c), opts)
	for _, finding := range ofModel {
		o.findings = append(o.findings, finding.String())
	}
	o.model, o.options, in.Options = built, opts, opts
	var err error
	o.state, err = plan.Next(built, in)
	return o, err
}

// count returns the number of directives with a name in a block.
func count(nodes []node, name string) int {
	found := 0
	for _, n := range nodes {
		if n.args[0] == name {
			found++
		}
	}
	return found
}

// around returns the lines around a line, for failure messages.
func around(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	from, to := max(line-4, 0), min(line+3, len(lines))
	var out strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&out, "%5d %.300s\n", i+1, lines[i])
	}
	return out.String()
}
