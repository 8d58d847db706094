package kubeapi

import (
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// prepareUpdate is prepare for a new state of base, which was decoded as old: it
// counts the generation, and leaves everything as it is, with a transition of no
// kind, when nothing changes. The rules say what counts.
func prepareUpdate(c *collection, rules *resource, base *object, old, next runtime.Object, counted bool) (transition, error) {
	res, is := c.res, metadataOf(next)
	counted = counted && rules.generation
	if counted {
		is.Generation++ // most likely
	}
	sealed, err := res.seal(next, base.rv)
	if err != nil {
		return transition{}, err
	}
	if counted && sealed.sameSpec(base, rules) && !(rules.generationLabels && !maps.Equal(metadataOf(old).Labels, is.Labels)) {
		is.Generation--
		if sealed, err = res.seal(next, base.rv); err != nil {
			return transition{}, err
		}
	}
	if sealed.sameBytes(base) || onlyLater(sealed, base, old, next) {
		return transition{base: base, next: next, sealed: base}, nil
	}
	return transition{watch.Modified, base, next, sealed}, nil
}

// onlyLater says whether sealed, which is next, is base again but for the times of
// its managed fields: nobody would know why it changed.
func onlyLater(sealed, base *object, old, next runtime.Object) bool {
	was, is := metadataOf(old), metadataOf(next)
	if len(is.ManagedFields) == 0 || !sameManagers(was.ManagedFields, is.ManagedFields) || !sealed.sameButMetadata(base) {
		return false
	}
	later := is.ManagedFields
	is.ManagedFields = was.ManagedFields
	again, err := base.res.seal(next, base.rv)
	is.ManagedFields = later
	return err == nil && again.sameBytes(base)
}
