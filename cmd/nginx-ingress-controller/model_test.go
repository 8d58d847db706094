package main

import (
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

func TestZoneIsThatOfTheNode(t *testing.T) {
	client := fake.NewClientset(
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "zoned", Labels: map[string]string{corev1.LabelTopologyZone: "z1"}}},
		&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "bare"}},
	)
	for _, test := range []struct {
		aware      bool
		node, want string
	}{
		{true, "zoned", "z1"}, {false, "zoned", ""}, {true, "bare", ""}, {true, "unknown", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{NodeName: test.node}}
		if got := (modelFlags{topologyAware: test.aware}).zone(t.Context(), client, pod, slog.New(slog.NewTextHandler(t.Output(), nil))); got != test.want {
			t.Errorf("%+v: zone %q", test, got)
		}
	}
}
