package compile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/internal/pki"
)

// village is a small cluster whose objects often share hosts, paths, services, Secrets and
// ConfigMaps.
type village struct {
	*rand.Rand
	ledger    *snapshot.Ledger
	ingresses map[int]*networkingv1.Ingress
	closed    map[*networkingv1.Ingress]snapshot.Closure
}

var (
	villageHosts = []string{
		"a.example", "b.example", "c.example", "d.example", "e.example", "g.example", "h.example", "i.example",
		"www.a.example", "www.b.example", "*.w.example", "", "Bad_Host",
	}
	villageServices = []types.NamespacedName{
		{Namespace: "x", Name: "one"}, {Namespace: "x", Name: "two"}, {Namespace: "x", Name: "three"}, {Namespace: "x", Name: "four"}, {Namespace: "x", Name: "five"},
		{Namespace: "x", Name: "six"}, {Namespace: "x", Name: "seven"}, {Namespace: "x", Name: "y-one"}, {Namespace: "x-y", Name: "one"}, {Namespace: "x", Name: "outside"},
	}
	villagePaths = []string{"/", "/", "/p", "/p/", "/p/(?<part>.*)", "/(", ""}
	// villageAnnotations are the values that an ingress can have, by annotation.
	villageAnnotations = map[string][]string{
		"affinity":                {"cookie"},
		"app-root":                {"/$part", "/home"},
		"auth-realm":              {"$part of $mine", "plain"},
		"auth-secret":             {"x/users", "x/missing"},
		"auth-tls-secret":         {"x/ca", "x/missing"},
		"auth-type":               {"basic"},
		"canary":                  {"true"},
		"canary-weight":           {"10"},
		"configuration-snippet":   {"set $mine 1;"},
		"custom-headers":          {"x/headers", "x/missing"},
		"custom-http-errors":      {"404"},
		"default-backend":         {"one", "two", "three", "four", "missing"},
		"from-to-www-redirect":    {"true"},
		"limit-rps":               {"5"},
		"load-balance":            {"ewma", "chash"},
		"proxy-ssl-secret":        {"x/cert"},
		"rewrite-target":          {"/$part"},
		"server-alias":            {"b.example", "d.example,e.example", "~^(?<mine>.*)[.]f[.]example$"},
		"server-snippet":          {"set $here 1;", "# nothing"},
		"ssl-passthrough":         {"true"},
		"stream-snippet":          {"# stream"},
		"temporal-redirect":       {"http://$here.example"},
		"upstream-hash-by":        {"$remote_addr"},
		"whitelist-source-range":  {"10.0.0.0/8", "no address"},
		"use-regex":               {"true"},
		"service-upstream":        {"true"},
		"ssl-ciphers":             {"NOTHING", "AES128-SHA"},
		"mirror-target":           {"http://mirror.example$request_uri"},
		"modsecurity-transaction": {"unknown"},
	}
	villageCertificate = sync.OnceValue(func() map[string][]byte {
		authority := pki.New("ca")
		pair := authority.Issue("a", []string{"a.example", "www.a.example", "b.example"})
		return map[string][]byte{"tls.crt": pair.Certificate, "tls.key": pair.Key, "ca.crt": pair.Certificate}
	})
)

// villageRarity returns the rarity of an annotation. Annotations through which ingresses affect
// each other are frequent.
func villageRarity(annotation string) int {
	switch annotation {
	case "canary", "default-backend", "from-to-www-redirect", "server-alias":
		return 4
	}
	return 20
}

func pick[T any](v *village, list []T) T { return list[v.IntN(len(list))] }

func (v *village) meta(namespace, name string, age int) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID(namespace + "." + name), CreationTimestamp: metav1.Unix(int64(age), 0)}
}

func (v *village) backend() networkingv1.IngressBackend {
	service := &networkingv1.IngressServiceBackend{Name: pick(v, villageServices).Name, Port: networkingv1.ServiceBackendPort{Number: 80}}
	if v.IntN(10) == 0 {
		service.Port.Number = 81
	}
	return networkingv1.IngressBackend{Service: service}
}

func (v *village) ingress(i int) *networkingv1.Ingress {
	namespace := pick(v, villageServices).Namespace
	ingress := &networkingv1.Ingress{ObjectMeta: v.meta(namespace, fmt.Sprintf("ingress-%d", i), i/2)}
	ingress.Annotations = map[string]string{}
	for name, values := range villageAnnotations {
		if v.IntN(villageRarity(name)) == 0 {
			ingress.Annotations[prefix+name] = pick(v, values)
		}
	}
	if v.IntN(10) == 0 {
		ingress.Spec.DefaultBackend = new(v.backend())
	}
	for range 1 + v.IntN(5)/4 - v.IntN(8)/7 {
		rule := networkingv1.IngressRule{Host: pick(v, villageHosts), IngressRuleValue: networkingv1.IngressRuleValue{HTTP: new(networkingv1.HTTPIngressRuleValue)}}
		for range 1 + v.IntN(5)/4 {
			rule.HTTP.Paths = append(rule.HTTP.Paths, networkingv1.HTTPIngressPath{
				Path: pick(v, villagePaths), PathType: new(pick(v, []networkingv1.PathType{networkingv1.PathTypePrefix, networkingv1.PathTypeExact})), Backend: v.backend(),
			})
		}
		ingress.Spec.Rules = append(ingress.Spec.Rules, rule)
	}
	if v.IntN(3) == 0 {
		ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{pick(v, villageHosts)}, SecretName: pick(v, []string{"cert", "missing", ""})}}
	}
	return ingress
}

// change makes one random change and describes it.
func (v *village) change() string {
	switch v.IntN(10) {
	case 0, 1, 2, 3:
		i := v.IntN(8)
		if old := v.ingresses[i]; old != nil {
			v.ledger.Drop(old)
			delete(v.closed, old)
			delete(v.ingresses, i)
			if v.IntN(3) == 0 {
				return "no " + old.Name
			}
		}
		v.ingresses[i] = v.ingress(i)
		v.ledger.Put(v.ingresses[i])
		if v.IntN(15) == 0 {
			v.closed[v.ingresses[i]] = snapshot.Closure{Reason: "closed", ServerSnippet: v.IntN(2) == 0, ClientCertificates: v.IntN(2) == 0}
		}
		return fmt.Sprintf("%s: %v %+v %+v", v.ingresses[i].Name, v.ingresses[i].Annotations, v.ingresses[i].Spec.Rules, v.ingresses[i].Spec.DefaultBackend)
	case 4:
		return v.service(pick(v, villageServices))
	case 5:
		secret := &corev1.Secret{ObjectMeta: v.meta("x", "cert", 0), Data: villageCertificate()}
		switch v.IntN(3) {
		case 0:
			secret.ObjectMeta, secret.Data = v.meta("x", "users", 0), map[string][]byte{"auth": fmt.Appendf(nil, "a:{PLAIN}%d", v.IntN(2))}
		case 1:
			secret.ObjectMeta, secret.Data = v.meta("x", "ca", 0), map[string][]byte{"ca.crt": villageCertificate()["ca.crt"]}
		}
		return v.putOrDrop(secret)
	case 6:
		data := map[string]string{"X-A": pick(v, []string{"1", "$mine", "$part"})}
		return v.putOrDrop(&corev1.ConfigMap{ObjectMeta: v.meta("x", "headers", 0), Data: data})
	default:
		return v.slice(pick(v, villageServices))
	}
}

func (v *village) service(name types.NamespacedName) string {
	service := &corev1.Service{ObjectMeta: v.meta(name.Namespace, name.Name, 0)}
	service.Spec = corev1.ServiceSpec{ClusterIP: "10.96.0.1", Ports: []corev1.ServicePort{{Port: int32(80 + v.IntN(6)/5), TargetPort: intstr.FromInt32(8080)}}}
	if name.Name == "outside" {
		service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "outside.example"}
	}
	return v.putOrDrop(service)
}

func (v *village) slice(name types.NamespacedName) string {
	slice := &discoveryv1.EndpointSlice{
		ObjectMeta:  v.meta(name.Namespace, name.Name+"-"+pick(v, []string{"a", "b"}), 0),
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
	}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name.Name}
	for range v.IntN(2) {
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.9.0.%d", v.IntN(4))}})
	}
	return v.putOrDrop(slice)
}

func (v *village) putOrDrop(object metav1.Object) string {
	what := fmt.Sprintf("%T %s/%s", object, object.GetNamespace(), object.GetName())
	if v.IntN(4) == 0 {
		v.ledger.Drop(object)
		return "no " + what
	}
	v.ledger.Put(object)
	return what
}

// settings returns the options of one of two configurations.
func (v *village) settings(i int) parsed {
	config := map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical", "global-allowed-response-headers": "X-A", "proxy-set-headers": "x/headers"}
	if i == 0 {
		return parse(flags{EnableSSLPassthrough: true, DefaultBackendService: "x/two"}, config)
	}
	config["server-snippet"], config["load-balance"] = "set $part 1;", "ewma"
	return parse(flags{DefaultSSLCertificate: "x/cert", DynamicConfiguration: new(i == 1)}, config)
}

// follow compiles a sequence of random clusters and compares each result with that of a full build:
// findings, the state, and the steps and reasons from the previous state.
func follow(t *testing.T, seed uint64, steps int) {
	t.Helper()
	v := &village{rand.New(rand.NewPCG(seed, 2)), snapshot.NewLedger(), map[int]*networkingv1.Ingress{}, map[*networkingv1.Ingress]snapshot.Closure{}}
	for _, name := range villageServices {
		v.service(name)
		v.slice(name)
	}
	var compiler compile.Compiler
	var models model.Memo
	var before, wholeBefore plan.State
	settings := []parsed{v.settings(0), v.settings(1), v.settings(2)}
	now := 0
	for step := range steps {
		var what []string
		for range 1 + v.IntN(3) {
			what = append(what, v.change())
		}
		if v.IntN(12) == 0 {
			now = v.IntN(len(settings))
		}
		cluster := v.ledger.Snapshot()
		if len(v.closed) > 0 {
			cluster.Closed = map[*networkingv1.Ingress]snapshot.Closure{}
			for ingress, closure := range v.closed {
				cluster.Closed[ingress] = closure
			}
		}
		in := compile.Input{Input: input(settings[now].Options)}
		got, err := compiler.Compile(cluster, in)
		if err != nil {
			t.Fatal(err)
		}
		_, findings := models.Build(cluster, got.Input.Options)
		wholeModel, wholeFindings := model.Build(cluster, got.Input.Options)
		want, err := plan.Next(wholeModel, got.Input.Input)
		if err != nil {
			t.Fatal(err)
		}
		at := fmt.Sprintf("seed %d, step %d, options %d, %s", seed, step, now, strings.Join(what, "; "))
		if !reflect.DeepEqual(findings, wholeFindings) {
			t.Fatalf("%s: findings\n%v\nwant\n%v", at, findings, wholeFindings)
		}
		if steps := plan.Diff(want, got.State); len(steps) > 0 {
			t.Fatalf("%s: %s", at, describe(steps))
		}
		if a, b := lookedUp(got.Model), lookedUp(wholeModel); !reflect.DeepEqual(a, b) {
			t.Fatalf("%s: looked up %v, want %v", at, a, b)
		}
		whole := got.State
		whole.Conf = conf.Whole(got.State.Conf.Bytes())
		if a, b := describe(plan.Diff(before, got.State)), describe(plan.Diff(wholeBefore, whole)); a != b {
			t.Fatalf("%s: steps\n%s\nwant, as for the whole text,\n%s", at, a, b)
		}
		before, wholeBefore = got.State, whole
	}
}

// lookedUp returns the ConfigMaps that a model was built from.
func lookedUp(m *model.Model) map[types.NamespacedName]bool {
	names := make(map[types.NamespacedName]bool)
	for name := range m.ConfigMaps() {
		names[name] = true
	}
	for _, secret := range []string{"cert", "users", "ca", "missing"} {
		name := types.NamespacedName{Namespace: "x", Name: secret}
		names[types.NamespacedName{Namespace: "Secret", Name: secret}] = m.ReadsSecret(name)
	}
	return names
}

// Incremental compilation gives the same result as a full one, regardless of what ingresses share.
func TestIncrementalCompilation(t *testing.T) {
	t.Parallel()
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			follow(t, seed, 60)
		})
	}
}

func FuzzIncremental(f *testing.F) {
	f.Add(uint64(1), 20)
	f.Fuzz(func(t *testing.T, seed uint64, steps int) { follow(t, seed, steps&63) })
}
