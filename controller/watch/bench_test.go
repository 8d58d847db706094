package watch

import (
	"fmt"
	"log/slog"
	"maps"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/snapshot"
)

// BenchmarkTake measures a full snapshot of 10,000 services with one slice each.
func BenchmarkTake(b *testing.B) {
	store := New(fake.NewClientset(), standard(), record.NewFakeRecorder(0), slog.New(slog.DiscardHandler))
	for i := range 10_000 {
		meta := metav1.ObjectMeta{Namespace: "demo", Name: fmt.Sprint("web-", i)}
		if err := store.services.GetStore().Add(&corev1.Service{ObjectMeta: meta}); err != nil {
			b.Fatal(err)
		}
		meta.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name}
		if err := store.slices.GetStore().Add(&discoveryv1.EndpointSlice{ObjectMeta: meta}); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		services := maps.Collect(snapshot.Take(store).EndpointSlices.All())
		if len(services) != 10_000 {
			b.Fatalf("%d services with slices", len(services))
		}
	}
}
