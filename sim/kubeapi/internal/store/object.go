package store

import (
	"bytes"
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Object is one version of one stored object. It never changes, so lists, watchers and the history
// share it. Raw is the object; the other fields are an index of it.
type Object struct {
	Resource        *resource.Resource
	Key             string // namespace/name, or name
	Namespace, Name string
	UID             types.UID
	Version         uint64
	Deleting        bool // marked as deleted, but still stored
	Labels          labelIndex
	Fields          fields.Set // selectable fields beyond metadata.name and metadata.namespace
	Raw             []byte     // the kind's own protobuf message
	Frame           []byte     // the MODIFIED event as protobuf, which ends with Raw; nil for custom objects
	JSON            atomic.Pointer[[]byte]
}

// Encode encodes obj as a stored object at version rv. It sets the resourceVersion of obj.
func Encode(res *resource.Resource, obj runtime.Object, rv uint64) (*Object, error) {
	m := object.Accessor(obj)
	m.SetResourceVersion(object.ShownVersion(rv))
	frame, raw, err := marshal(res, obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s as protobuf: %w", res.Kind, m.GetName(), err)
	}
	key := object.Key(m.GetNamespace(), m.GetName())
	o := &Object{
		Resource:  res,
		Key:       key,
		Namespace: key[:len(m.GetNamespace())], // a substring of key, which needs no memory of its own
		Name:      key[len(key)-len(m.GetName()):],
		UID:       m.GetUID(),
		Version:   rv,
		Deleting:  m.GetDeletionTimestamp() != nil,
		Labels:    indexLabels(m.GetLabels()),
		Raw:       raw,
		Frame:     frame,
	}
	if res.Fields != nil {
		o.Fields = res.Fields(obj)
	}
	return o, nil
}

// sizedMessage is a built-in kind as protobuf.
type sizedMessage interface {
	Size() int
	MarshalToSizedBuffer(b []byte) (int, error)
}

// marshal encodes obj as its own message and, in the same bytes, as its MODIFIED event, so that
// neither watchers nor answers need a copy.
func marshal(res *resource.Resource, obj runtime.Object) (frame, raw []byte, err error) {
	message, ok := obj.(sizedMessage)
	if !ok {
		raw, err = obj.(object.Message).Marshal()
		return nil, raw, err
	}
	t, size := res.TypeMeta(""), message.Size()
	envelope := object.EnvelopeSize(t, size)
	frame = make([]byte, object.EventSize(watch.Modified, envelope))
	object.AppendEnvelope(object.AppendEvent(frame[:0], watch.Modified, envelope), t, size)
	raw = frame[len(frame)-size:]
	_, err = message.MarshalToSizedBuffer(raw)
	return frame, raw, err
}

// Decode returns the object as a new value that the caller may change.
func (o *Object) Decode() (runtime.Object, error) {
	obj, err := o.Resource.Unmarshal(o.Raw)
	return o.decoded(obj, err)
}

// decoded completes the result of decoding o.
func (o *Object) decoded(obj runtime.Object, err error) (runtime.Object, error) {
	if err != nil {
		return nil, fmt.Errorf("decoding stored %s %s: %w", o.Resource.Kind, o.Key, err)
	}
	if o.Resource.Decoded != nil {
		o.Resource.Decoded(obj)
	}
	return obj, nil
}

// at returns the same state with version rv.
func (o *Object) at(rv uint64) (*Object, error) {
	obj, err := o.Decode()
	if err != nil {
		return nil, err
	}
	return Encode(o.Resource, obj, rv)
}

// As returns the same object as an object of another version of its custom resource.
func (o *Object) As(res *resource.Resource) *Object {
	return &Object{Resource: res, Key: o.Key, Namespace: o.Namespace, Name: o.Name, UID: o.UID, Version: o.Version,
		Deleting: o.Deleting, Labels: o.Labels, Fields: o.Fields, Raw: o.Raw}
}

// selected is the value at a path of a custom object as selectors compare it, empty if there is
// none. It decodes the whole object, because selectors by such fields are rare and the fields
// differ between versions.
func (o *Object) selected(path []string) string {
	obj, err := o.Decode()
	if err != nil {
		return ""
	}
	value, found, err := unstructured.NestedFieldNoCopy(obj.(*object.Custom).Content, path...)
	if err != nil || !found || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// DecodeWithoutLargeField is Decode without the large field.
func (o *Object) DecodeWithoutLargeField() (runtime.Object, error) {
	return o.decoded(o.Resource.UnmarshalWithoutLargeField(o.Raw))
}

// HasFinalizers reports whether the object has any finalizer.
func (o *Object) HasFinalizers() bool {
	_, metadata, _ := object.Cut(o.Raw, object.MetadataField)
	_, first, _ := object.Cut(metadata, object.FinalizersField)
	return first != nil
}

// clone returns a copy with bytes that may be changed.
func (o *Object) clone() *Object {
	raw, frame := o.Raw, bytes.Clone(o.Frame)
	if frame == nil {
		raw = bytes.Clone(raw)
	} else {
		raw = frame[len(frame)-len(raw):]
	}
	return &Object{Resource: o.Resource, Key: o.Key, Namespace: o.Namespace, Name: o.Name, UID: o.UID, Version: o.Version,
		Deleting: o.Deleting, Labels: o.Labels, Fields: o.Fields, Raw: raw, Frame: frame}
}

// SameBytes reports whether o and p are equal, including their versions.
func (o *Object) SameBytes(p *Object) bool { return bytes.Equal(o.Raw, p.Raw) }

// SameSpec reports whether o and p are equal in everything that metadata.generation counts: all but
// metadata and, if the rules say that the kind has a status, the status.
func (o *Object) SameSpec(p *Object, rules *resource.Resource) bool {
	_, _, a := object.Cut(o.Raw, object.MetadataField)
	_, _, b := object.Cut(p.Raw, object.MetadataField)
	if !rules.Status {
		return bytes.Equal(a, b)
	}
	beforeA, _, afterA := object.Cut(a, object.StatusField)
	beforeB, _, afterB := object.Cut(b, object.StatusField)
	return bytes.Equal(beforeA, beforeB) && bytes.Equal(afterA, afterB)
}

// SameButMetadata reports whether o and p are equal in everything but metadata.
func (o *Object) SameButMetadata(p *Object) bool {
	_, _, a := object.Cut(o.Raw, object.MetadataField)
	_, _, b := object.Cut(p.Raw, object.MetadataField)
	return bytes.Equal(a, b)
}

// share reuses the strings and labels of the state before, so that o takes no memory of its own for
// them.
func (o *Object) share(base *Object) {
	if base == nil {
		return
	}
	o.Key, o.Namespace, o.Name, o.UID = base.Key, base.Namespace, base.Name, base.UID
	if slices.Equal(o.Labels, base.Labels) {
		o.Labels = base.Labels
	}
}
