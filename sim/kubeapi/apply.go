package kubeapi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// apply is server-side apply: it changes the object that op names, or creates it; created
// says which. merge merges the applied fields into an object.
func (s *clusterState) apply(op *operation, opts writeOptions, merge func(old runtime.Object) (runtime.Object, error)) (o *object, created bool, err error) {
	for {
		o, err = s.modify(op, opts.dryRun, (*object).decode, func(_ *object, old runtime.Object) (runtime.Object, error) { return merge(old) })
		if !errors.IsNotFound(err) || op.subresource != "" {
			return o, false, err
		}
		o, err = s.applyNew(op, opts, merge)
		if !errors.IsAlreadyExists(err) {
			return o, true, err
		}
		// Another writer was first: apply to its object.
	}
}

// applyNew creates an object of nothing but what is applied.
func (s *clusterState) applyNew(op *operation, opts writeOptions, merge func(old runtime.Object) (runtime.Object, error)) (*object, error) {
	obj, err := merge(op.objects.res.empty())
	if err != nil {
		return nil, err
	}
	m := metadataOf(obj)
	switch {
	case m.UID != "":
		return nil, errors.NewConflict(op.res.groupResource(), op.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	case m.Name == "":
		return nil, errNoName(op.name)
	case m.Name != op.name:
		return nil, nameMismatch(m.Name, op.name)
	}
	m.ResourceVersion = ""
	return s.insert(op, obj, opts.dryRun)
}
