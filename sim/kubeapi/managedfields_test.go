package kubeapi

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// The short way keeps the account that the long way would, whatever changes.
func TestShortAccountIsTheLongOne(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	short := map[int]int{} // by the number of owners
	for _, kind := range []func(*rand.Rand) runtime.Object{randomSlice, randomConfigMap, randomService, randomLease} {
		for range 2000 {
			old, next := kind(rng), kind(rng)
			a := accountFor(t, old)
			old, err := a.own(nil, a.res.empty(), old, "m")
			if err != nil {
				t.Fatal(err)
			}
			metadataOf(old).UID = "u"
			if rng.IntN(2) == 0 { // a second owner, of some of it
				by := []string{"n", "m"}[rng.IntN(2)]
				second := kind(rng)
				metadataOf(second).UID = "u"
				if old, err = a.own(nil, old, second, by); err != nil {
					t.Fatal(err)
				}
			}
			quick := next.DeepCopyObject()
			base, err := a.res.seal(old, 1)
			if err != nil {
				t.Fatal(err)
			}
			skimmed, err := base.skim()
			if err != nil {
				t.Fatal(err)
			}
			manager := []string{"m", "n"}[rng.IntN(2)]
			second := time.Now().Unix()
			if !a.ownsAlike(base, skimmed, quick, manager) {
				continue
			}
			m, err := fieldManager(a.res, "")
			if err != nil {
				t.Fatal(err)
			}
			full, err := m.Update(old, next, manager)
			if err != nil {
				t.Fatal(err)
			}
			if time.Now().Unix() != second {
				continue // entries are in the order of their seconds
			}
			short[len(metadataOf(old).ManagedFields)]++
			if !sameManagers(metadataOf(quick).ManagedFields, metadataOf(full).ManagedFields) {
				t.Fatalf("from %+v\nto %+v\nshort %v\nlong  %v", old, next, owners(*metadataOf(quick)), owners(*metadataOf(full)))
			}
		}
	}
	if short[1] < 100 || short[2] < 10 {
		t.Errorf("the short way was taken by only owners, and by one of two, %v times only", short)
	}
}

func accountFor(t *testing.T, obj runtime.Object) account {
	t.Helper()
	for _, res := range resources {
		if fmt.Sprintf("%T", res.empty()) == fmt.Sprintf("%T", obj) {
			return account{res: res}
		}
	}
	t.Fatalf("no resource for %T", obj)
	return account{}
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
	s := slice("a", rng.IntN(3))
	s.ObjectMeta = randomMeta(rng)
	if len(s.Endpoints) > 0 && rng.IntN(2) == 0 {
		s.Endpoints[0].NodeName = new("n")
	}
	if rng.IntN(3) == 0 {
		s.Ports = nil
	}
	defaultEndpointSlice(s, nil)
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
	defaultService(svc, nil)
	return svc
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

// BenchmarkOwn is the account of one update of a slice of ten endpoints.
func BenchmarkOwn(b *testing.B) {
	old := slice("a", 10)
	defaultEndpointSlice(old, nil)
	next := old.DeepCopy()
	next.Endpoints[0].Addresses[0] = "10.0.0.1"
	a := account{res: findResource(discoveryv1.SchemeGroupVersion, "endpointslices")}
	owned, err := a.own(nil, a.res.empty(), old, "m")
	if err != nil {
		b.Fatal(err)
	}
	metadataOf(owned).UID = "u"
	base, err := a.res.seal(owned, 1)
	if err != nil {
		b.Fatal(err)
	}
	for name, manager := range map[string]string{"same": "m", "other": "n"} {
		b.Run("manager="+name, func(b *testing.B) {
			for b.Loop() {
				if _, err := a.own(base, owned, next.DeepCopy(), manager); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("create", func(b *testing.B) {
		for b.Loop() {
			if _, err := a.own(nil, a.res.empty(), next.DeepCopy(), "m"); err != nil {
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
