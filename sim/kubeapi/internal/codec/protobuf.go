package codec

import (
	"encoding/binary"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// protobufMagic opens every protobuf object of Kubernetes; a runtime.Unknown
// message follows, which names the kind and holds the object's own message.
const protobufMagic = "k8s\x00"

const ProtobufType = "application/vnd.kubernetes.protobuf"

// Protobuf wraps the stored bytes in envelopes, without decoding them.
type Protobuf struct{}

func (Protobuf) MediaType() string { return ProtobufType }

func (Protobuf) StreamType() string { return ProtobufType + ";stream=watch" }

func (Protobuf) Object(o *store.Object, _ bool) ([]byte, error) {
	b := appendEnvelope(make([]byte, 0, len(o.Raw)+96), o.Resource.TypeMeta(""), len(o.Raw))
	return append(b, o.Raw...), nil
}

// appendEnvelope appends the envelope of a protobuf object up to its last size bytes: the magic and
// a runtime.Unknown up to its raw field (typeMeta=1, raw=2; contentEncoding and contentType stay
// empty).
func appendEnvelope(b []byte, t metav1.TypeMeta, size int) []byte {
	b = append(b, protobufMagic...)
	b = object.AppendTag(b, 1, object.FieldSize(len(t.APIVersion))+object.FieldSize(len(t.Kind)))
	b = append(object.AppendTag(b, 1, len(t.APIVersion)), t.APIVersion...)
	b = append(object.AppendTag(b, 2, len(t.Kind)), t.Kind...)
	return object.AppendTag(b, 2, size)
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
	b := appendEnvelope(nil, res.TypeMeta("List"), size)
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
	unknown := object.FieldSize(object.FieldSize(len(t.APIVersion))+object.FieldSize(len(t.Kind))) + object.FieldSize(len(o.Raw))
	buf = appendEvent(buf, kind, len(protobufMagic)+unknown)
	return append(appendEnvelope(buf, t, len(o.Raw)), o.Raw...)
}

// SharedFrame returns the frame of the object's MODIFIED event, which is encoded once for all
// watchers.
func (c Protobuf) SharedFrame(o *store.Object) []byte {
	if frame := o.Frame.Load(); frame != nil {
		return *frame
	}
	frame := c.AppendFrame(make([]byte, 0, len(o.Raw)+128), watch.Modified, o)
	o.Frame.Store(&frame)
	return frame
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
	return append(appendEnvelope(nil, t, len(raw)), raw...), nil
}

func (Protobuf) Frame(buf []byte, kind watch.EventType, object []byte) []byte {
	return append(appendEvent(buf, kind, len(object)), object...)
}

// appendEvent appends a four-byte length and a bare WatchEvent message (type=1,
// object=2, whose raw=1 is a whole object) up to the object of size bytes.
func appendEvent(buf []byte, kind watch.EventType, size int) []byte {
	raw := object.FieldSize(size)
	buf = binary.BigEndian.AppendUint32(buf, uint32(object.FieldSize(len(kind))+object.FieldSize(raw)))
	buf = append(object.AppendTag(buf, 1, len(kind)), kind...)
	return object.AppendTag(object.AppendTag(buf, 2, raw), 1, size)
}
