package resource

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// View makes a resource another face of one that is stored: events of
// events.k8s.io are those of the core group.
type View struct {
	Of           *Resource
	Show, Unshow func(runtime.Object) runtime.Object // from and to the stored kind
}

// Base is the resource that res is stored as: itself, unless it is a view.
func (res *Resource) Base() *Resource {
	if res.View != nil {
		return res.View.Of
	}
	return res
}

// Shown and stored convert between the stored kind and res's own.
func (res *Resource) Shown(stored runtime.Object) runtime.Object {
	if res.View == nil {
		return stored
	}
	return res.View.Show(stored)
}

func (res *Resource) Stored(shown runtime.Object) runtime.Object {
	if res.View == nil {
		return shown
	}
	return res.View.Unshow(shown)
}
