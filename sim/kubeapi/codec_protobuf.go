package kubeapi

import (
	"encoding/binary"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// protobufMagic opens every protobuf object of Kubernetes; a runtime.Unknown
// message follows, which names the kind and holds the object's own message.
const protobufMagic = "k8s\x00"

const protobufType = "application/vnd.kubernetes.protobuf"

// protobufCodec puts the stored bytes into their envelopes; it never decodes one.
type protobufCodec struct{}

func (protobufCodec) mediaType() string  { return protobufType }
func (protobufCodec) streamType() string { return protobufType + ";stream=watch" }

func (protobufCodec) object(o *object, _ bool) ([]byte, error) {
	b := appendEnvelope(make([]byte, 0, len(o.raw)+96), o.res.typeMeta(""), len(o.raw))
	return append(b, o.raw...), nil
}

// appendEnvelope appends all of a protobuf object but its last size bytes: the
// magic and a runtime.Unknown up to its raw field (typeMeta=1, raw=2; its
// contentEncoding and contentType stay empty).
func appendEnvelope(b []byte, t metav1.TypeMeta, size int) []byte {
	b = append(b, protobufMagic...)
	b = appendTag(b, 1, fieldSize(len(t.APIVersion))+fieldSize(len(t.Kind)))
	b = append(appendTag(b, 1, len(t.APIVersion)), t.APIVersion...)
	b = append(appendTag(b, 2, len(t.Kind)), t.Kind...)
	return appendTag(b, 2, size)
}

// appendTag opens a length-delimited field with a number below 16.
func appendTag(b []byte, number byte, size int) []byte {
	return binary.AppendUvarint(append(b, number<<3|2), uint64(size))
}

// fieldSize is the size of such a field with its tag.
func fieldSize(size int) int {
	n := 2 + size
	for v := size; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

// list relies on every list kind having the same message: metadata=1, items=2.
func (protobufCodec) list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error {
	metadata, err := m.Marshal()
	if err != nil {
		return err
	}
	size := fieldSize(len(metadata))
	for _, o := range objects {
		size += fieldSize(len(o.raw))
	}
	b := appendEnvelope(nil, res.typeMeta("List"), size)
	b = append(appendTag(b, 1, len(metadata)), metadata...)
	_, err = w.Write(b)
	for _, o := range objects {
		b = appendTag(b[:0], 2, len(o.raw))
		w.Write(b)
		_, err = w.Write(o.raw) // a failed write before fails here, too
	}
	return err
}

// appendFrame is frame of object, without bytes in between.
func (protobufCodec) appendFrame(buf []byte, kind watch.EventType, o *object) []byte {
	t := o.res.typeMeta("")
	unknown := fieldSize(fieldSize(len(t.APIVersion))+fieldSize(len(t.Kind))) + fieldSize(len(o.raw))
	buf = appendEvent(buf, kind, len(protobufMagic)+unknown)
	return append(appendEnvelope(buf, t, len(o.raw)), o.raw...)
}

// sharedFrame is the frame of object's MODIFIED event, made once for all who watch.
func (c protobufCodec) sharedFrame(o *object) []byte {
	if frame := o.frame.Load(); frame != nil {
		return *frame
	}
	frame := c.appendFrame(make([]byte, 0, len(o.raw)+128), watch.Modified, o)
	o.frame.Store(&frame)
	return frame
}

func (protobufCodec) value(obj runtime.Object) ([]byte, error) {
	m, ok := obj.(message)
	if !ok {
		return nil, fmt.Errorf("%T has no protobuf form", obj)
	}
	raw, err := m.Marshal()
	if err != nil {
		return nil, err
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	t := metav1.TypeMeta{Kind: gvk.Kind, APIVersion: gvk.GroupVersion().String()}
	return append(appendEnvelope(nil, t, len(raw)), raw...), nil
}

func (protobufCodec) frame(buf []byte, kind watch.EventType, object []byte) []byte {
	return append(appendEvent(buf, kind, len(object)), object...)
}

// appendEvent appends a four-byte length and a bare WatchEvent message (type=1,
// object=2, whose raw=1 is a whole object) up to the object of size bytes.
func appendEvent(buf []byte, kind watch.EventType, size int) []byte {
	raw := fieldSize(size)
	buf = binary.BigEndian.AppendUint32(buf, uint32(fieldSize(len(kind))+fieldSize(raw)))
	buf = append(appendTag(buf, 1, len(kind)), kind...)
	return appendTag(appendTag(buf, 2, raw), 1, size)
}
