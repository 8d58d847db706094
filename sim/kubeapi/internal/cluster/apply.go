package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Apply performs a server-side apply: it changes the object that op names, or creates it. created
// reports whether it created the object. merge merges the applied fields into an object.
func (s *State) Apply(op *Operation, opts WriteOptions, merge func(old runtime.Object) (runtime.Object, error)) (o *store.Object, created bool, err error) {
	for {
		o, err = s.modify(op, opts.DryRun, (*store.Object).Decode, func(_ *store.Object, old runtime.Object) (runtime.Object, error) { return merge(old) })
		if !errors.IsNotFound(err) || op.Subresource != "" {
			return o, false, err
		}
		o, err = s.applyNew(op, opts, merge)
		if !errors.IsAlreadyExists(err) {
			return o, true, err
		}
		// Another writer changed the object first: apply to the new state.
	}
}

// applyNew creates an object from the applied fields only.
func (s *State) applyNew(op *Operation, opts WriteOptions, merge func(old runtime.Object) (runtime.Object, error)) (*store.Object, error) {
	obj, err := merge(op.Objects.Resource.Empty())
	if err != nil {
		return nil, err
	}
	m := object.Meta(obj)
	switch {
	case m.UID != "":
		return nil, errors.NewConflict(op.Resource.GroupResource(), op.Name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	case m.Name == "":
		return nil, errNoName(op.Name)
	case m.Name != op.Name:
		return nil, nameMismatch(m.Name, op.Name)
	}
	m.ResourceVersion = ""
	return s.insert(op, obj, opts.DryRun)
}
