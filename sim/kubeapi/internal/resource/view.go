package resource

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// View describes a resource that is another representation of a stored one: events of events.k8s.io
// are stored as events of the core group.
type View struct {
	Of                   *Resource
	FromStored, ToStored func(runtime.Object) runtime.Object // from and to the stored kind
	Fields               map[string]string                   // selectable fields, with their names in the stored kind; nil: those of the stored kind
}

// Base returns the resource that objects of res are stored as: res itself, unless it is a view.
func (res *Resource) Base() *Resource {
	if res.View != nil {
		return res.View.Of
	}
	return res
}

// FromStored and ToStored convert between the stored kind and the kind of res.
func (res *Resource) FromStored(stored runtime.Object) runtime.Object {
	if res.View == nil {
		return stored
	}
	return res.View.FromStored(stored)
}

func (res *Resource) ToStored(shown runtime.Object) runtime.Object {
	if res.View == nil {
		return shown
	}
	return res.View.ToStored(shown)
}
