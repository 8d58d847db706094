package cluster

import (
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// Objects returns all objects of a built-in resource of version v1; the caller may change them.
func (s *State) Objects(group, name string) []runtime.Object {
	stored, _, _ := s.BuiltIn(schema.GroupVersion{Group: group, Version: "v1"}, name).Snapshot()
	objects := make([]runtime.Object, 0, len(stored))
	for _, o := range stored {
		if obj, err := o.Decode(); err == nil { // the server has encoded it
			objects = append(objects, obj)
		}
	}
	return objects
}

// Object returns one object of a built-in resource of version v1, or nil if it does not exist.
func (s *State) Object(group, resource, namespace, name string) runtime.Object {
	o := s.BuiltIn(schema.GroupVersion{Group: group, Version: "v1"}, resource).Get(object.Key(namespace, name))
	if o == nil {
		return nil
	}
	obj, err := o.Decode()
	if err != nil {
		return nil
	}
	return obj
}

// AccountsRequired reports whether a pod must have a service account that exists.
func (s *State) AccountsRequired() bool { return s.accounts }
