package kubeapi

import (
	"io"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

func showEvent(obj runtime.Object) runtime.Object {
	ev := obj.(*corev1.Event)
	return &eventsv1.Event{
		ObjectMeta:               ev.ObjectMeta,
		EventTime:                ev.EventTime,
		Series:                   (*eventsv1.EventSeries)(ev.Series),
		ReportingController:      ev.ReportingController,
		ReportingInstance:        ev.ReportingInstance,
		Action:                   ev.Action,
		Reason:                   ev.Reason,
		Regarding:                ev.InvolvedObject,
		Related:                  ev.Related,
		Note:                     ev.Message,
		Type:                     ev.Type,
		DeprecatedSource:         ev.Source,
		DeprecatedFirstTimestamp: ev.FirstTimestamp,
		DeprecatedLastTimestamp:  ev.LastTimestamp,
		DeprecatedCount:          ev.Count,
	}
}

func unshowEvent(obj runtime.Object) runtime.Object {
	ev := obj.(*eventsv1.Event)
	return &corev1.Event{
		ObjectMeta:          ev.ObjectMeta,
		EventTime:           ev.EventTime,
		Series:              (*corev1.EventSeries)(ev.Series),
		ReportingController: ev.ReportingController,
		ReportingInstance:   ev.ReportingInstance,
		Action:              ev.Action,
		Reason:              ev.Reason,
		InvolvedObject:      ev.Regarding,
		Related:             ev.Related,
		Message:             ev.Note,
		Type:                ev.Type,
		Source:              ev.DeprecatedSource,
		FirstTimestamp:      ev.DeprecatedFirstTimestamp,
		LastTimestamp:       ev.DeprecatedLastTimestamp,
		Count:               ev.DeprecatedCount,
	}
}
