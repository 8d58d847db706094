package controller

import (
	"log/slog"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/watch"
)

// A Secret that only the served version of an ingress names may change before its model is followed.
func TestSecretsOfANewModelAreCaughtUp(t *testing.T) {
	name := types.NamespacedName{Namespace: "demo", Name: "certificate"}
	version := func(v string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, ResourceVersion: v}}
	}
	web := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: "web"}}
	web.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{"web.example"}, SecretName: name.Name}}
	web.Spec.Rules = []networkingv1.IngressRule{{Host: "web.example"}}
	store := watch.New(fake.NewClientset(version("2")), watch.Options{}, record.NewFakeRecorder(1), slog.New(slog.DiscardHandler))
	if err := store.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what     string
		was      *corev1.Secret
		replaced bool
		puts     uint64
	}{{"an older version", version("1"), true, 1}, {"no Secret", nil, true, 1}, {"the same version", version("2"), true, 0}, {"nothing in quarantine", version("1"), false, 0}} {
		cluster := snapshot.Snapshot{Ingresses: []*networkingv1.Ingress{web}, Secrets: map[types.NamespacedName]*corev1.Secret{}}
		if test.was != nil {
			cluster.Secrets[name] = test.was
		}
		built, _ := model.Build(cluster, options.Options{Config: options.Defaults(1, false)})
		before, inputs := store.Changes().Newest(), modelInputs{}
		for range 2 { // the second time, the Secret is followed already
			inputs.follow(built, cluster, store, test.replaced)
			if n := store.Changes().Newest() - before; n != test.puts {
				t.Errorf("a snapshot with %s: %d changes, want %d", test.what, n, test.puts)
			}
		}
	}
}
