package controller

import (
	"sync/atomic"

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
// puts changes of ConfigMaps since the snapshot that the store did not report.
func (r *modelInputs) follow(m *model.Model, cluster snapshot.Snapshot, store *watch.Store) {
	before := r.last.Swap(m)
	for name := range m.ConfigMaps() {
		if (before == nil || !before.Reads(name)) && store.ConfigMap(name) != cluster.ConfigMaps[name] {
			store.Changes().Put("update ConfigMap "+name.String(), true)
		}
	}
}
