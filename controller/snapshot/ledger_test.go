package snapshot_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller/snapshot"
)

// stock is a Source that a test can modify.
type stock map[string]any

func of[T any](s stock) []T {
	var all []T
	for object := range maps.Values(s) {
		if typed, ok := object.(T); ok {
			all = append(all, typed)
		}
	}
	return all
}

func (s stock) Ingresses() []*networkingv1.Ingress { return of[*networkingv1.Ingress](s) }
func (s stock) Services() []*corev1.Service        { return of[*corev1.Service](s) }
func (s stock) EndpointSlices() []*discoveryv1.EndpointSlice {
	return of[*discoveryv1.EndpointSlice](s)
}
func (s stock) Secrets() []*corev1.Secret       { return of[*corev1.Secret](s) }
func (s stock) ConfigMaps() []*corev1.ConfigMap { return of[*corev1.ConfigMap](s) }

func object(random *rand.Rand) any {
	meta := metav1.ObjectMeta{
		Namespace: "demo", Name: fmt.Sprint("n", random.IntN(6)), Generation: random.Int64(),
		CreationTimestamp: metav1.Unix(random.Int64N(3), 0),
	}
	switch random.IntN(6) {
	case 0:
		return &networkingv1.Ingress{ObjectMeta: meta}
	case 1:
		return &corev1.Service{ObjectMeta: meta}
	case 2:
		return &corev1.Secret{ObjectMeta: meta}
	case 3:
		return &corev1.ConfigMap{ObjectMeta: meta}
	default:
		if service := random.IntN(4); service > 0 {
			meta.Labels = map[string]string{discoveryv1.LabelServiceName: fmt.Sprint("s", service)}
		}
		return &discoveryv1.EndpointSlice{ObjectMeta: meta}
	}
}

// A ledger's snapshots equal those of Take, and later changes do not modify them.
func TestLedgerMatchesTake(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		ledger, cluster := snapshot.NewLedger(), stock{}
		var given, kept []snapshot.Snapshot
		for range 60 {
			for range random.IntN(4) {
				changed := object(random)
				key := fmt.Sprintf("%T %s", changed, changed.(metav1.Object).GetName())
				if old := cluster[key]; old != nil && random.IntN(3) == 0 {
					delete(cluster, key)
					ledger.Drop(old)
				} else {
					cluster[key] = changed
					ledger.Put(changed)
				}
			}
			got, want := ledger.Snapshot(), snapshot.Take(cluster)
			if !same(got, want) {
				t.Fatalf("seed %d: got %v, want %v", seed, got, want)
			}
			if len(given) > 0 {
				before := given[len(given)-1]
				for service := range want.ChangedServices(before) { // compares all slices
					if !got.ChangedServices(before)[service] {
						t.Fatalf("seed %d: the change of %s was missed", seed, service)
					}
				}
			}
			given, kept = append(given, got), append(kept, want)
		}
		for i := range given {
			if !same(given[i], kept[i]) {
				t.Fatalf("seed %d: snapshot %d was modified", seed, i)
			}
		}
	}
}

func same(a, b snapshot.Snapshot) bool {
	return slices.Equal(a.Ingresses, b.Ingresses) && maps.Equal(a.Services, b.Services) && maps.Equal(a.Secrets, b.Secrets) &&
		maps.Equal(a.ConfigMaps, b.ConfigMaps) && maps.EqualFunc(maps.Collect(a.EndpointSlices.All()), maps.Collect(b.EndpointSlices.All()), slices.Equal[[]*discoveryv1.EndpointSlice])
}

// Consecutive snapshots share unchanged objects.
func TestSnapshotsShareUnchangedObjects(t *testing.T) {
	ledger := snapshot.NewLedger()
	ledger.Put(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "a"}})
	before := ledger.Snapshot()
	ledger.Put(&discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Name: "a-1", Labels: map[string]string{discoveryv1.LabelServiceName: "a"}}})
	now := ledger.Snapshot()
	if reflect.ValueOf(before.Services).Pointer() != reflect.ValueOf(now.Services).Pointer() {
		t.Error("a change of a slice copied the services")
	}
	if old, new := maps.Collect(before.EndpointSlices.All()), maps.Collect(now.EndpointSlices.All()); len(old) != 0 || len(new) != 1 {
		t.Errorf("slices before: %v, now: %v", old, new)
	}
}
