package controller

import (
	"sync/atomic"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/watch"
)

// reading is the ConfigMaps that the last model was made of.
type reading struct {
	last atomic.Pointer[model.Model]
}

// has is watch.Options.Reads.
func (r *reading) has(configMap types.NamespacedName) bool {
	last := r.last.Load()
	return last != nil && last.Reads(configMap)
}

// hasSecret is watch.Options.ReadsSecret.
func (r *reading) hasSecret(secret types.NamespacedName) bool {
	last := r.last.Load()
	return last != nil && last.ReadsSecret(secret)
}

// follow has changes of a model's ConfigMaps noticed from now on. Those that
// changed since the cluster was looked at were not: they are put now.
func (r *reading) follow(m *model.Model, cluster snapshot.Snapshot, store *watch.Store) {
	before := r.last.Swap(m)
	for name := range m.ConfigMaps() {
		if (before == nil || !before.Reads(name)) && store.ConfigMap(name) != cluster.ConfigMaps[name] {
			store.Changes().Put("update ConfigMap "+name.String(), true)
		}
	}
}
