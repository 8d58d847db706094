package kubeapi

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// viewForm is another form, of stored objects as a view shows them.
type viewForm struct {
	form
	res *resource
}

func (f viewForm) object(o *object, keep bool) ([]byte, error) {
	shown, err := f.show(o)
	if err != nil {
		return nil, err
	}
	return f.form.object(shown, keep)
}

func (f viewForm) list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error {
	shown := make([]*object, len(objects))
	for i, o := range objects {
		var err error
		if shown[i], err = f.show(o); err != nil {
			return err
		}
	}
	return f.form.list(w, res, shown, m)
}

func (f viewForm) show(o *object) (*object, error) {
	if o.res == f.res {
		return o, nil
	}
	if f.res.custom != nil {
		return o.as(f.res), nil
	}
	obj, err := o.decode()
	if err != nil {
		return nil, err
	}
	return f.res.seal(f.res.shown(obj), o.rv)
}
