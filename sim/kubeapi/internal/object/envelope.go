package object

import (
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// ProtobufMagic opens every protobuf object of Kubernetes. A runtime.Unknown message follows. It
// names the kind and holds the object's own message.
const ProtobufMagic = "k8s\x00"

// EnvelopeSize is the size of an object in its envelope, for a message of size bytes.
func EnvelopeSize(t metav1.TypeMeta, size int) int {
	return len(ProtobufMagic) + FieldSize(typeSize(t)) + FieldSize(size)
}

func typeSize(t metav1.TypeMeta) int { return FieldSize(len(t.APIVersion)) + FieldSize(len(t.Kind)) }

// AppendEnvelope appends the envelope of a protobuf object up to its last size bytes: the magic and
// a runtime.Unknown up to its raw field (typeMeta=1, raw=2; contentEncoding and contentType stay
// empty).
func AppendEnvelope(b []byte, t metav1.TypeMeta, size int) []byte {
	b = append(b, ProtobufMagic...)
	b = AppendTag(b, 1, typeSize(t))
	b = append(AppendTag(b, 1, len(t.APIVersion)), t.APIVersion...)
	b = append(AppendTag(b, 2, len(t.Kind)), t.Kind...)
	return AppendTag(b, 2, size)
}

// EventSize is the size of the frame of a watch event, for an object of size bytes.
func EventSize(kind watch.EventType, size int) int { return frameHead + eventSize(kind, size) }

const frameHead = 4 // the length of the event

func eventSize(kind watch.EventType, size int) int {
	return FieldSize(len(kind)) + FieldSize(FieldSize(size))
}

// AppendEvent appends a four-byte length and a bare WatchEvent message (type=1, object=2, whose
// raw=1 is a whole object) up to the object of size bytes.
func AppendEvent(b []byte, kind watch.EventType, size int) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(eventSize(kind, size)))
	b = append(AppendTag(b, 1, len(kind)), kind...)
	return AppendTag(AppendTag(b, 2, FieldSize(size)), 1, size)
}
