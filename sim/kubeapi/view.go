package kubeapi

import (
	"k8s.io/apimachinery/pkg/runtime"
)

// view makes a resource another face of one that is stored: events of
// events.k8s.io are those of the core group.
type view struct {
	of           *resource
	show, unshow func(runtime.Object) runtime.Object // from and to the stored kind
}

// base is the resource that res is stored as: itself, unless it is a view.
func (res *resource) base() *resource {
	if res.view != nil {
		return res.view.of
	}
	return res
}

// shown and stored convert between the stored kind and res's own.
func (res *resource) shown(stored runtime.Object) runtime.Object {
	if res.view == nil {
		return stored
	}
	return res.view.show(stored)
}

func (res *resource) stored(shown runtime.Object) runtime.Object {
	if res.view == nil {
		return shown
	}
	return res.view.unshow(shown)
}
