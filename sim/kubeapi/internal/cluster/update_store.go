package cluster

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// prepareUpdate is prepare for a new state of base, which was decoded as old: it
// counts the generation, and leaves everything as it is, with a transition of no
// kind, when nothing changes. The rules say what counts.
func prepareUpdate(c *store.Collection, rules *resource.Resource, base *store.Object, old, next runtime.Object, counted bool) (store.Transition, error) {
	res, is := c.Resource, object.Meta(next)
	counted = counted && rules.Generation
	if counted {
		is.Generation++ // most likely
	}
	sealed, err := store.Seal(res, next, base.Version)
	if err != nil {
		return store.Transition{}, err
	}
	if counted && sealed.SameSpec(base, rules) && !(rules.GenerationLabels && !maps.Equal(object.Meta(old).Labels, is.Labels)) {
		is.Generation--
		if sealed, err = store.Seal(res, next, base.Version); err != nil {
			return store.Transition{}, err
		}
	}
	if sealed.SameBytes(base) || onlyLater(sealed, base, old, next) {
		return store.Transition{Base: base, Next: next, Sealed: base}, nil
	}
	return store.Transition{Kind: watch.Modified, Base: base, Next: next, Sealed: sealed}, nil
}

// onlyLater says whether sealed, which is next, is base again but for the times of
// its managed fields: nobody would know why it changed.
func onlyLater(sealed, base *store.Object, old, next runtime.Object) bool {
	was, is := object.Meta(old), object.Meta(next)
	if len(is.ManagedFields) == 0 || !ownership.SameManagers(was.ManagedFields, is.ManagedFields) || !sealed.SameButMetadata(base) {
		return false
	}
	later := is.ManagedFields
	is.ManagedFields = was.ManagedFields
	again, err := store.Seal(base.Resource, next, base.Version)
	is.ManagedFields = later
	return err == nil && again.SameBytes(base)
}
