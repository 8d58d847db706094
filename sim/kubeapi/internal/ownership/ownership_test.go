package ownership

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/kinds/defaults"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// The shortcut produces the same owners as the field manager, for every change.
func TestShortcutEqualsFieldManager(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	short := map[int]int{} // number of shortcuts by the number of owners
	for _, kind := range []func(*rand.Rand) runtime.Object{randomSlice, randomSlice, randomSlice, randomConfigMap, randomService, randomLease, randomIngress} {
		for range 2000 {
			old, next := kind(rng), kind(rng)
			a := trackerFor(t, old)
			old, err := a.Update(nil, a.Resource.Empty(), old, "m")
			if err != nil {
				t.Fatal(err)
			}
			object.Meta(old).UID = "u"
			if rng.IntN(2) == 0 { // a second owner of some fields
				by := []string{"n", "m"}[rng.IntN(2)]
				second := kind(rng)
				object.Meta(second).UID = "u"
				if old, err = a.Update(nil, old, second, by); err != nil {
					t.Fatal(err)
				}
			}
			quick := next.DeepCopyObject()
			base, err := store.Encode(a.Resource, old, 1)
			if err != nil {
				t.Fatal(err)
			}
			skimmed, err := base.DecodeWithoutLargeField()
			if err != nil {
				t.Fatal(err)
			}
			manager := []string{"m", "n"}[rng.IntN(2)]
			second := time.Now().Unix()
			if !a.updateUnchanged(base, skimmed, quick, manager) {
				continue
			}
			m, err := fieldManager(a.Resource, "")
			if err != nil {
				t.Fatal(err)
			}
			stored, err := base.Decode()
			if err != nil {
				t.Fatal(err)
			}
			full, err := m.Update(stored, next, manager)
			if err != nil {
				t.Fatal(err)
			}
			if time.Now().Unix() != second {
				continue // the order of entries depends on whole seconds
			}
			short[len(object.Meta(old).ManagedFields)]++
			if !SameManagers(object.Meta(quick).ManagedFields, object.Meta(full).ManagedFields) {
				t.Fatalf("from %+v\nto %+v\nshort %v\nlong  %v", old, next, ownersOf(*object.Meta(quick)), ownersOf(*object.Meta(full)))
			}
		}
	}
	if short[1] < 100 || short[2] < 10 {
		t.Errorf("the shortcut was taken too rarely, by number of owners: %v", short)
	}
}

// TestCreateAlikeEqualsFieldManager creates objects one after the other, many of which have the same
// fields.
func TestCreateAlikeEqualsFieldManager(t *testing.T) {
	for name, kind := range map[string]func(*rand.Rand) runtime.Object{"slice": randomSlice, "config map": randomConfigMap,
		"service": randomService, "lease": randomLease, "ingress": randomIngress} {
		rng, short := rand.New(rand.NewPCG(3, 4)), 0
		for range 2000 {
			obj := kind(rng)
			if rng.IntN(5) == 0 {
				object.Meta(obj).GenerateName = "a-"
			}
			a, manager := trackerFor(t, obj), []string{"m", "n"}[rng.IntN(2)]
			m, err := fieldManager(a.Resource, "")
			if err != nil {
				t.Fatal(err)
			}
			full, err := m.Update(a.Resource.Empty(), obj.DeepCopyObject(), manager)
			if err != nil {
				t.Fatal(err)
			}
			if a.createAlike(obj.DeepCopyObject(), manager) {
				short++
			}
			got, err := a.Create(obj, manager)
			if err != nil {
				t.Fatal(err)
			}
			if !SameManagers(object.Meta(got).ManagedFields, object.Meta(full).ManagedFields) {
				t.Fatalf("%+v\ngot  %v\nwant %v", obj, ownersOf(*object.Meta(got)), ownersOf(*object.Meta(full)))
			}
		}
		if short < 10 {
			t.Errorf("%s: the shortcut was taken only %d times of 2000", name, short)
		}
	}
}

func trackerFor(t *testing.T, obj runtime.Object) Tracker {
	t.Helper()
	for _, res := range kinds.BuiltIn {
		if fmt.Sprintf("%T", res.Empty()) == fmt.Sprintf("%T", obj) {
			return Tracker{Resource: res}
		}
	}
	t.Fatalf("no resource for %T", obj)
	return Tracker{}
}

func randomMeta(rng *rand.Rand) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: "a", Namespace: "default"}
	if rng.IntN(3) > 0 {
		m.Labels = map[string]string{"a": fmt.Sprint(rng.IntN(3))}
	}
	if rng.IntN(6) == 0 {
		m.Annotations = map[string]string{fmt.Sprint(rng.IntN(2)): "x"}
	}
	return m
}

func randomSlice(rng *rand.Rand) runtime.Object {
	s := endpointSlice("a", rng.IntN(3))
	s.ObjectMeta = randomMeta(rng)
	if len(s.Endpoints) > 0 && rng.IntN(2) == 0 {
		s.Endpoints[0].NodeName = new("n")
	}
	switch rng.IntN(6) { // an empty list has an owner, no list has none
	case 0, 1:
		s.Ports = nil
	case 2:
		s.Ports = []discoveryv1.EndpointPort{}
	}
	if len(s.Endpoints) == 0 && rng.IntN(4) == 0 {
		s.Endpoints = []discoveryv1.Endpoint{}
	}
	defaults.EndpointSlice(s, nil)
	return s
}

func randomConfigMap(rng *rand.Rand) runtime.Object {
	cm := &corev1.ConfigMap{ObjectMeta: randomMeta(rng)}
	if rng.IntN(4) > 0 {
		cm.Data = map[string]string{"k": fmt.Sprint(rng.IntN(3))}
	}
	if rng.IntN(4) == 0 {
		cm.BinaryData = map[string][]byte{fmt.Sprint(rng.IntN(2)): {1}}
	}
	if rng.IntN(4) == 0 {
		cm.Immutable = new(rng.IntN(2) == 0)
	}
	return cm
}

func randomService(rng *rand.Rand) runtime.Object {
	svc := &corev1.Service{ObjectMeta: randomMeta(rng)}
	for i := range rng.IntN(3) {
		svc.Spec.Ports = append(svc.Spec.Ports, corev1.ServicePort{Name: fmt.Sprint("p", rng.IntN(2)), Port: int32(80 + i)})
	}
	if rng.IntN(2) == 0 {
		svc.Spec.Selector = map[string]string{"app": fmt.Sprint(rng.IntN(2))}
	}
	if rng.IntN(3) == 0 {
		svc.Spec.ExternalName = "x.example"
	}
	defaults.Service(svc, nil)
	return svc
}

func randomIngress(rng *rand.Rand) runtime.Object {
	ing := &networkingv1.Ingress{ObjectMeta: randomMeta(rng)}
	for range rng.IntN(3) {
		ing.Spec.Rules = append(ing.Spec.Rules, networkingv1.IngressRule{Host: fmt.Sprint(rng.IntN(3), ".example")})
	}
	for range rng.IntN(2) {
		ing.Spec.TLS = append(ing.Spec.TLS, networkingv1.IngressTLS{Hosts: []string{fmt.Sprint(rng.IntN(3))}})
	}
	if rng.IntN(2) == 0 {
		ing.Spec.IngressClassName = new(fmt.Sprint(rng.IntN(2)))
	}
	if rng.IntN(3) == 0 {
		ing.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: fmt.Sprint(rng.IntN(2)), Port: networkingv1.ServiceBackendPort{Number: int32(rng.IntN(2))}}}
	}
	return ing
}

func randomLease(rng *rand.Rand) runtime.Object {
	l := &coordinationv1.Lease{ObjectMeta: randomMeta(rng)}
	if rng.IntN(4) > 0 {
		now := metav1.NowMicro()
		l.Spec.RenewTime = &now
		l.Spec.HolderIdentity = new(fmt.Sprint(rng.IntN(3)))
	}
	return l
}

// BenchmarkUpdate measures the owners of one update of a slice with ten endpoints.
func BenchmarkUpdate(b *testing.B) {
	old := endpointSlice("a", 10)
	defaults.EndpointSlice(old, nil)
	next := old.DeepCopy()
	next.Endpoints[0].Addresses[0] = "10.0.0.1"
	a := Tracker{Resource: kinds.Find(discoveryv1.SchemeGroupVersion, "endpointslices")}
	owned, err := a.Update(nil, a.Resource.Empty(), old, "m")
	if err != nil {
		b.Fatal(err)
	}
	object.Meta(owned).UID = "u"
	base, err := store.Encode(a.Resource, owned, 1)
	if err != nil {
		b.Fatal(err)
	}
	for name, manager := range map[string]string{"same": "m", "other": "n"} {
		b.Run("manager="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := a.Update(base, owned, next.DeepCopy(), manager); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			if _, err := a.Create(next.DeepCopy(), "m"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestHasField(t *testing.T) {
	for set, want := range map[string]bool{
		`{"f:endpoints":{}}`: true,
		`{"f:addressType":{},"f:endpoints":{},"f:ports":{}}`:       true,
		`{"f:metadata":{"f:labels":{".":{},"f:endpoints":{}}}}`:    false,
		`{"f:metadata":{"f:labels":{"f:a\"f:endpoints\":{":{}}}}`:  false,
		`{"f:metadata":{"f:labels":{"f:}}":{}}},"f:endpoints":{}}`: true,
		`{"f:endpointsets":{}}`:                                    false,
		``:                                                         false,
	} {
		if hasField(set, "endpoints") != want {
			t.Errorf("%s: %v", set, !want)
		}
	}
}

func endpointSlice(name string, endpoints int) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta:  metav1.ObjectMeta{Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: "web"}},
		AddressType: discoveryv1.AddressTypeIPv4,
		Ports:       []discoveryv1.EndpointPort{{Port: new(int32(8080))}},
	}
	for i := range endpoints {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{
			Addresses:  []string{fmt.Sprintf("127.1.%d.%d", i/250, i%250+1)},
			Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			TargetRef:  &corev1.ObjectReference{Kind: "Pod", Namespace: "default", Name: fmt.Sprintf("web-%d", i)},
		})
	}
	return s
}

// ownersOf returns the owners of fields: manager operation subresource: fields.
func ownersOf(m metav1.ObjectMeta) map[string]string {
	all := map[string]string{}
	for _, e := range m.ManagedFields {
		all[strings.TrimSpace(e.Manager+" "+string(e.Operation)+" "+e.Subresource)] = e.FieldsV1.GetRawString()
	}
	return all
}
