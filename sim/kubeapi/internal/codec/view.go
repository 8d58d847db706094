package codec

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// View converts stored objects to Resource, a view, and writes them in a Representation.
type View struct {
	Representation
	Resource *resource.Resource
}

func (f View) Object(o *store.Object, keep bool) ([]byte, error) {
	shown, err := f.fromStored(o)
	if err != nil {
		return nil, err
	}
	return f.Representation.Object(shown, keep)
}

func (f View) List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error {
	shown := make([]*store.Object, len(objects))
	for i, o := range objects {
		var err error
		if shown[i], err = f.fromStored(o); err != nil {
			return err
		}
	}
	return f.Representation.List(w, res, shown, m)
}

func (f View) fromStored(o *store.Object) (*store.Object, error) {
	if o.Resource == f.Resource {
		return o, nil
	}
	if f.Resource.Custom != nil {
		return o.As(f.Resource), nil
	}
	obj, err := o.Decode()
	if err != nil {
		return nil, err
	}
	return store.Encode(f.Resource, f.Resource.FromStored(obj), o.Version)
}
