package codec

import (
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

const ProtobufType = "application/vnd.kubernetes.protobuf"

// Protobuf wraps the stored bytes in envelopes, without decoding them.
type Protobuf struct{}

func (Protobuf) MediaType() string { return ProtobufType }

func (Protobuf) StreamType() string { return ProtobufType + ";stream=watch" }

// Object returns bytes that the object keeps: callers must not change them.
func (Protobuf) Object(o *store.Object, _ bool) ([]byte, error) {
	t := o.Resource.TypeMeta("")
	if frame := o.Frame; frame != nil {
		return frame[len(frame)-object.EnvelopeSize(t, len(o.Raw)):], nil
	}
	b := object.AppendEnvelope(make([]byte, 0, object.EnvelopeSize(t, len(o.Raw))), t, len(o.Raw))
	return append(b, o.Raw...), nil
}

// List relies on all list kinds having the same message: metadata=1, items=2.
func (Protobuf) List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error {
	metadata, err := m.Marshal()
	if err != nil {
		return err
	}
	size := object.FieldSize(len(metadata))
	for _, o := range objects {
		size += object.FieldSize(len(o.Raw))
	}
	b := object.AppendEnvelope(nil, res.TypeMeta("List"), size)
	b = append(object.AppendTag(b, 1, len(metadata)), metadata...)
	_, err = w.Write(b)
	for _, o := range objects {
		b = object.AppendTag(b[:0], 2, len(o.Raw))
		w.Write(b)
		_, err = w.Write(o.Raw) // returns the error of an earlier write, too
	}
	return err
}

// AppendFrame combines Object and Frame without a copy in between.
func (Protobuf) AppendFrame(buf []byte, kind watch.EventType, o *store.Object) []byte {
	t := o.Resource.TypeMeta("")
	buf = object.AppendEvent(buf, kind, object.EnvelopeSize(t, len(o.Raw)))
	return append(object.AppendEnvelope(buf, t, len(o.Raw)), o.Raw...)
}

func (Protobuf) Value(obj runtime.Object) ([]byte, error) {
	m, ok := obj.(object.Message)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf encoding", obj)
	}
	raw, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	t := metav1.TypeMeta{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String()}
	return append(object.AppendEnvelope(nil, t, len(raw)), raw...), nil
}

func (Protobuf) Frame(buf []byte, kind watch.EventType, body []byte) []byte {
	return append(object.AppendEvent(buf, kind, len(body)), body...)
}
