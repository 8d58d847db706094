package controller

import (
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/watch"
)

// modelInputs records the ConfigMaps and Secrets of the last model.
type modelInputs struct {
	last atomic.Pointer[model.Model]
}

// has implements watch.Options.Reads.
func (r *modelInputs) has(configMap types.NamespacedName) bool {
	last := r.last.Load()
	return last != nil && last.Reads(configMap)
}

// hasSecret implements watch.Options.ReadsSecret.
func (r *modelInputs) hasSecret(secret types.NamespacedName) bool {
	last := r.last.Load()
	return last != nil && last.ReadsSecret(secret)
}

// follow makes the store report changes of a model's ConfigMaps and Secrets from now on. It also
// puts those changes since the snapshot that the store did not report. replaced says that the cluster has
// replacements by the quarantine: only these may name Secrets that no accepted ingress names.
func (r *modelInputs) follow(m *model.Model, cluster snapshot.Snapshot, store *watch.Store, replaced bool) {
	before := r.last.Swap(m)
	for name := range m.ConfigMaps() {
		if (before == nil || !before.Reads(name)) && store.ConfigMap(name) != cluster.ConfigMaps[name] {
			store.Changes().Put("update ConfigMap "+name.String(), true)
		}
	}
	if !replaced || m.SameButEndpoints(before) {
		return
	}
	for name := range m.Secrets() {
		if (before == nil || !before.ReadsSecret(name)) && differ(store.Secret(name), cluster.Secrets[name]) {
			store.Changes().Put("update Secret "+name.String(), true)
		}
	}
}

// differ reports whether two states of a Secret differ. The snapshot may hold a copy with a complete
// certificate chain.
func differ(a, b *corev1.Secret) bool {
	if a == nil || b == nil {
		return a != b
	}
	return a.UID != b.UID || a.ResourceVersion != b.ResourceVersion
}
