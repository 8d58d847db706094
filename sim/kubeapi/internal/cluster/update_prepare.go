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

// prepareUpdate prepares next as the new state of base, which was decoded as old. It increases the
// generation according to the rules. If nothing changes it returns a transition without a kind.
func prepareUpdate(c *store.Collection, rules *resource.Resource, base *store.Object, old, next runtime.Object, counted bool) (store.Transition, error) {
	res, is := c.Resource, object.Meta(next)
	counted = counted && rules.Generation
	if counted {
		is.Generation++ // corrected below if the spec did not change
	}
	encoded, err := store.Encode(res, next, base.Version)
	if err != nil {
		return store.Transition{}, err
	}
	if counted && encoded.SameSpec(base, rules) && !(rules.GenerationLabels && !maps.Equal(object.Meta(old).Labels, is.Labels)) {
		is.Generation--
		if encoded, err = store.Encode(res, next, base.Version); err != nil {
			return store.Transition{}, err
		}
	}
	if encoded.SameBytes(base) || sameExceptTimes(encoded, base, old, next) {
		return store.Transition{Base: base, Next: next, Encoded: base}, nil
	}
	return store.Transition{Kind: watch.Modified, Base: base, Next: next, Encoded: encoded}, nil
}

// sameExceptTimes reports whether encoded, the encoded next, differs from base only in the times of
// its managed fields. Clients could not see a reason for such a change.
func sameExceptTimes(encoded, base *store.Object, old, next runtime.Object) bool {
	was, is := object.Meta(old), object.Meta(next)
	if len(is.ManagedFields) == 0 || !ownership.SameManagers(was.ManagedFields, is.ManagedFields) || !encoded.SameButMetadata(base) {
		return false
	}
	later := is.ManagedFields
	is.ManagedFields = was.ManagedFields
	again, err := store.Encode(base.Resource, next, base.Version)
	is.ManagedFields = later
	return err == nil && again.SameBytes(base)
}
