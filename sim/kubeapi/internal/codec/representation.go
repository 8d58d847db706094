package codec

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Representation is the representation of objects that a client asked for: whole, as rows of a
// Table, or metadata only. Each representation uses a codec.
type Representation interface {
	Object(o *store.Object, keep bool) ([]byte, error)
	List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error
}

// Partial represents objects as PartialObjectMetadata, which metadata informers ask for.
type Partial struct{ codec Codec }

func partialMetadata(o *store.Object) (*metav1.PartialObjectMetadata, error) {
	obj, err := o.Decode()
	if err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: *object.Meta(obj),
	}, nil
}

func (f Partial) Object(o *store.Object, _ bool) ([]byte, error) {
	partial, err := partialMetadata(o)
	if err != nil {
		return nil, err
	}
	return f.codec.Value(partial)
}

func (f Partial) List(w io.Writer, _ *resource.Resource, objects []*store.Object, m metav1.ListMeta) error {
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: "meta.k8s.io/v1"},
		ListMeta: m,
		Items:    make([]metav1.PartialObjectMetadata, 0, len(objects)),
	}
	for _, o := range objects {
		partial, err := partialMetadata(o)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, *partial)
	}
	b, err := f.codec.Value(list)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
