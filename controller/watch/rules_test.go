package watch

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// field is a change of one field of an object. read means that a sync reads the field.
type field[T any] struct {
	name   string
	read   bool
	change func(*T)
}

// objects contains the API calls of a kind.
type objects[T any] struct {
	create func(context.Context, *T, metav1.CreateOptions) (*T, error)
	update func(context.Context, *T, metav1.UpdateOptions) (*T, error)
	delete func(context.Context, string, metav1.DeleteOptions) error
}

// checkFields changes each field of an object. An unread field must not cause a change: the next
// change must come from a second update, by certain, of a field that is read.
func checkFields[T any](c *cluster, api objects[T], kind, name string, object func() *T, certain func(*T), fields []field[T]) {
	c.Helper()
	c.must(api.create(c.Context(), object(), create))
	c.next("create " + kind + " " + name)
	_, short, _ := cutName(name)
	for _, f := range fields {
		changed := object()
		f.change(changed)
		c.must(api.update(c.Context(), changed, update))
		if f.read {
			c.nextFor(f.name, "update "+kind+" "+name)
			c.must(api.update(c.Context(), object(), update))
			c.nextFor(f.name+" and back", "update "+kind+" "+name)
			continue
		}
		certain(changed)
		c.must(api.update(c.Context(), changed, update))
		c.nextFor(f.name, "update "+kind+" "+name)
		c.must(api.update(c.Context(), object(), update))
		c.nextFor(f.name+" and back", "update "+kind+" "+name)
	}
	c.must(nil, api.delete(c.Context(), short, remove))
	c.next("delete " + kind + " " + name)
	select {
	case extra := <-c.changes:
		c.Errorf("%s: a field that is not read caused the change %q", kind, extra)
	default:
	}
}

func cutName(name string) (namespace, short string, both bool) {
	for i := range name {
		if name[i] == '/' {
			return name[:i], name[i+1:], true
		}
	}
	return "", name, false
}

func (c *cluster) nextFor(field, want string) {
	c.Helper()
	c.Logf("field %s", field)
	c.next(want)
}

func meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "demo", Name: name, UID: "1"}
}

func relabel(o *metav1.ObjectMeta)    { o.Labels = map[string]string{"a": "b"} }
func reannotate(o *metav1.ObjectMeta) { o.Annotations = map[string]string{"example.com/a": "b"} }

// Only fields of EndpointSlices that a sync reads cause changes.
func TestChangesOfEndpointSlices(t *testing.T) {
	c := followed(t, standard())
	api := c.DiscoveryV1().EndpointSlices("demo")
	type slice = discoveryv1.EndpointSlice
	object := func() *slice {
		port, name := int32(80), "http"
		s := &slice{ObjectMeta: meta("web"), AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"127.0.0.1"}}}, Ports: []discoveryv1.EndpointPort{{Port: &port, Name: &name}}}
		s.Labels = map[string]string{discoveryv1.LabelServiceName: "web"}
		return s
	}
	checkFields(c, objects[slice]{api.Create, api.Update, api.Delete}, "EndpointSlice", "demo/web", object,
		func(s *slice) { s.Endpoints[0].Addresses[0] = "127.0.0.9" }, []field[slice]{
			{"address", true, func(s *slice) { s.Endpoints[0].Addresses[0] = "127.0.0.2" }},
			{"readiness", true, func(s *slice) { s.Endpoints[0].Conditions.Ready = new(false) }},
			{"hints", true, func(s *slice) {
				s.Endpoints[0].Hints = &discoveryv1.EndpointHints{ForZones: []discoveryv1.ForZone{{Name: "a"}}}
			}},
			{"port alone", true, func(s *slice) { s.Ports[0].Port = new(int32(81)) }},
			{"name of the port", true, func(s *slice) { s.Ports[0].Name = new("web") }},
			{"protocol of the port", true, func(s *slice) { s.Ports[0].Protocol = new(corev1.ProtocolUDP) }},
			{"service", true, func(s *slice) { s.Labels[discoveryv1.LabelServiceName] = "other" }},
			{"type of addresses", true, func(s *slice) { s.AddressType = discoveryv1.AddressTypeFQDN }},
			{"another label", false, func(s *slice) { s.Labels["a"] = "b" }},
			{"annotations", false, func(s *slice) { reannotate(&s.ObjectMeta) }},
			{"node", false, func(s *slice) { s.Endpoints[0].NodeName = new("node") }},
			{"pod", false, func(s *slice) { s.Endpoints[0].TargetRef = &corev1.ObjectReference{ResourceVersion: "5"} }},
			{"terminating", false, func(s *slice) { s.Endpoints[0].Conditions.Terminating = new(true) }},
		})
}

func TestChangesOfServices(t *testing.T) {
	c := followed(t, standard())
	api := c.CoreV1().Services("demo")
	type service = corev1.Service
	object := func() *service {
		return &service{ObjectMeta: meta("web"), Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeClusterIP, ClusterIP: "10.0.0.1", Ports: []corev1.ServicePort{{Port: 80}}}}
	}
	checkFields(c, objects[service]{api.Create, api.Update, api.Delete}, "Service", "demo/web", object,
		func(s *service) { s.Spec.Ports[0].Port = 99 }, []field[service]{
			{"port", true, func(s *service) { s.Spec.Ports[0].Port = 81 }},
			{"target port", true, func(s *service) { s.Spec.Ports[0].TargetPort = intstr.FromString("http") }},
			{"type", true, func(s *service) { s.Spec.Type, s.Spec.ExternalName = corev1.ServiceTypeExternalName, "a.example" }},
			{"address", true, func(s *service) { s.Spec.ClusterIP = "10.0.0.2" }},
			{"distribution", true, func(s *service) { s.Spec.TrafficDistribution = new("PreferClose") }},
			{"topology", true, func(s *service) { s.Annotations = map[string]string{corev1.AnnotationTopologyMode: "Auto"} }},
			{"labels", false, func(s *service) { relabel(&s.ObjectMeta) }},
			{"another annotation", false, func(s *service) { reannotate(&s.ObjectMeta) }},
			{"status", false, func(s *service) {
				s.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "192.0.2.1"}}
			}},
		})
}

func TestChangesOfSecrets(t *testing.T) {
	named := ingress("web", "nginx")
	named.Spec.TLS = []networkingv1.IngressTLS{{SecretName: "web-tls"}}
	options := standard()
	options.ReadsSecret = func(name types.NamespacedName) bool { return name.Name == "of-an-earlier-version" }
	c := followed(t, options, named)
	c.next("create Ingress demo/web")
	api := c.CoreV1().Secrets("demo")
	type secret = corev1.Secret
	// Nothing refers to these Secrets.
	c.must(api.Create(t.Context(), &secret{ObjectMeta: meta("other")}, create))
	elsewhere := &secret{ObjectMeta: meta("web-tls")}
	elsewhere.Namespace = "elsewhere"
	c.must(c.CoreV1().Secrets("elsewhere").Create(t.Context(), elsewhere, create))
	for _, name := range []string{"web-tls", "of-an-earlier-version"} {
		checkFields(c, objects[secret]{api.Create, api.Update, api.Delete}, "Secret", "demo/"+name,
			func() *secret { return &secret{ObjectMeta: meta(name), Data: map[string][]byte{"x": []byte("1")}} },
			func(s *secret) { s.Data["x"] = []byte("9") }, []field[secret]{
				{"data", true, func(s *secret) { s.Data["x"] = []byte("2") }},
				{"another key", true, func(s *secret) { s.Data["y"] = nil }},
				{"labels", false, func(s *secret) { relabel(&s.ObjectMeta) }},
				{"annotations", false, func(s *secret) { reannotate(&s.ObjectMeta) }},
			})
	}
}

func TestChangesOfConfigMaps(t *testing.T) {
	options := standard()
	options.ConfigMaps = append(options.ConfigMaps, types.NamespacedName{Namespace: "demo", Name: "own"})
	options.Reads = func(name types.NamespacedName) bool { return name.Name == "headers" }
	c := followed(t, options)
	api := c.CoreV1().ConfigMaps("demo")
	type config = corev1.ConfigMap
	c.must(api.Create(t.Context(), &config{ObjectMeta: meta("other")}, create))
	for _, name := range []string{"own", "headers"} {
		checkFields(c, objects[config]{api.Create, api.Update, api.Delete}, "ConfigMap", "demo/"+name,
			func() *config { return &config{ObjectMeta: meta(name), Data: map[string]string{"x": "1"}} },
			func(m *config) { m.Data["x"] = "9" }, []field[config]{
				{"data", true, func(m *config) { m.Data["x"] = "2" }},
				{"another key", true, func(m *config) { m.Data["y"] = "" }},
				{"labels", false, func(m *config) { relabel(&m.ObjectMeta) }},
				{"binary data", false, func(m *config) { m.BinaryData = map[string][]byte{"z": nil} }},
			})
	}
}

func TestChangesOfIngresses(t *testing.T) {
	options := standard()
	options.DisableSyncEvents = true
	c := followed(t, options)
	api := c.NetworkingV1().Ingresses("demo")
	type ing = networkingv1.Ingress
	object := func() *ing {
		i := ingress("web", "nginx")
		i.UID = "1"
		return i
	}
	checkFields(c, objects[ing]{api.Create, api.Update, api.Delete}, "Ingress", "demo/web", object,
		func(i *ing) { i.Spec.Rules[0].Host = "certain.example" }, []field[ing]{
			{"host", true, func(i *ing) { i.Spec.Rules[0].Host = "other.example" }},
			{"annotation", true, func(i *ing) { i.Annotations = map[string]string{"nginx.ingress.kubernetes.io/use-regex": "true"} }},
			{"labels", false, func(i *ing) { relabel(&i.ObjectMeta) }},
			{"resource version", false, func(i *ing) { i.ResourceVersion = "77" }},
			{"status", false, func(i *ing) {
				i.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "192.0.2.1"}}
			}},
		})
}

// When a class is created, changes its controller or is deleted, the store determines again which
// ingresses are ours.
func TestChangesOfClasses(t *testing.T) {
	c := followed(t, standard(), ingress("early", "late"))
	api := c.NetworkingV1().IngressClasses()
	ours := func(want int) {
		t.Helper()
		if got := c.accepted(); len(got) != want {
			t.Errorf("accepted %q, want %d", got, want)
		}
	}
	late := class("late", "k8s.io/ingress-nginx")
	c.must(api.Create(t.Context(), late, create))
	c.next("create IngressClass late")
	ours(1)
	late.Labels = map[string]string{"a": "b"} // not read
	c.must(api.Update(t.Context(), late, update))
	late.Spec.Controller = "example.com/other"
	c.must(api.Update(t.Context(), late, update))
	c.next("update IngressClass late")
	ours(0)
	late.Spec.Controller = "k8s.io/ingress-nginx"
	c.must(api.Update(t.Context(), late, update))
	c.next("update IngressClass late")
	c.must(nil, api.Delete(t.Context(), "late", remove))
	c.next("delete IngressClass late")
	ours(0)
}

// The same happens when a namespace begins or ceases to match --watch-namespace-selector. The fake
// API server does not implement selectors, so the test creates and deletes the namespace.
func TestChangesOfNamespaces(t *testing.T) {
	options := standard()
	options.NamespaceSelector = labels.SelectorFromSet(labels.Set{"team": "a"})
	c := followed(t, options, ingress("web", "nginx"))
	api := c.CoreV1().Namespaces()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{"team": "a"}}}
	c.must(api.Create(t.Context(), namespace, create))
	c.next("create Namespace demo")
	if got := c.accepted(); len(got) != 1 {
		t.Errorf("accepted %q, want demo/web", got)
	}
	c.must(nil, api.Delete(t.Context(), "demo", remove))
	c.next("delete Namespace demo")
	if got := c.accepted(); len(got) != 0 {
		t.Errorf("accepted %q, want none", got)
	}
}
