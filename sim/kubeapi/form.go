package kubeapi

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// form is what a client asked objects to look like: whole, as rows of a Table,
// or metadata only. Each rests on a codec.
type form interface {
	object(o *object, keep bool) ([]byte, error)
	list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error
}

// partialForm is objects as PartialObjectMetadata, which metadata informers ask for.
type partialForm struct{ codec codec }

func partialMetadata(o *object) (*metav1.PartialObjectMetadata, error) {
	obj, err := o.decode()
	if err != nil {
		return nil, err
	}
	return &metav1.PartialObjectMetadata{
		TypeMeta:   metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: "meta.k8s.io/v1"},
		ObjectMeta: *metadataOf(obj),
	}, nil
}

func (f partialForm) object(o *object, _ bool) ([]byte, error) {
	partial, err := partialMetadata(o)
	if err != nil {
		return nil, err
	}
	return f.codec.value(partial)
}

func (f partialForm) list(w io.Writer, _ *resource, objects []*object, m metav1.ListMeta) error {
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
	b, err := f.codec.value(list)
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}
