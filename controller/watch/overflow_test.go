package watch

import (
	"fmt"
	"log/slog"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"
)

// If more changes arrive than fit into the ring while nothing reads it, the oldest are dropped and
// the newest is delivered. A later snapshot contains all of them.
func TestOverflowLosesNoFinalState(t *testing.T) {
	const slices, rounds = 50, 100
	store := New(fake.NewClientset(), standard(), record.NewFakeRecorder(0), slog.New(slog.NewTextHandler(t.Output(), nil)))
	events := handle(store, "EndpointSlice", sliceRule())
	of := func(i, round int) *discoveryv1.EndpointSlice {
		name := fmt.Sprint("web-", i)
		return &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: name, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
			Endpoints:  []discoveryv1.Endpoint{{Addresses: []string{fmt.Sprintf("10.0.%d.%d", round, i)}}},
		}
	}
	for round := range rounds {
		for i := range slices {
			if round == 0 {
				events.OnAdd(of(i, round), false)
			} else {
				events.OnUpdate(of(i, round-1), of(i, round))
			}
		}
	}
	store.changes.Close()
	var delivered []Change
	store.changes.Each(func(change Change) { delivered = append(delivered, change) })
	if len(delivered) < ringSize || len(delivered) > ringSize+2 { // some are on their way to the reader
		t.Errorf("%d of %d changes are delivered, want a ring of %d", len(delivered), slices*rounds, ringSize)
	}
	if newest := delivered[len(delivered)-1]; newest.Number != slices*rounds || newest.What != "update EndpointSlice demo/web-49" {
		t.Errorf("the newest delivered change is %+v", newest)
	}
	cluster := store.Snapshot()
	for i := range slices {
		name := types.NamespacedName{Namespace: "demo", Name: fmt.Sprint("web-", i)}
		if got, want := cluster.EndpointSlices.Of(name)[0].Endpoints[0].Addresses[0], fmt.Sprintf("10.0.%d.%d", rounds-1, i); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
}
