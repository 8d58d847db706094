package kubeapi

import (
	"bytes"
	"fmt"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// object is one version of one stored object. It never changes: lists, watchers
// and the history share it. Its protobuf bytes are the truth, the rest an index.
type object struct {
	res             *resource
	key             string // namespace/name, or name
	namespace, name string
	uid             types.UID
	rv              uint64
	deleting        bool // it waits for its finalizers
	labels          labelIndex
	fields          fields.Set // selectable fields beyond metadata.name and metadata.namespace
	raw             []byte     // the kind's own protobuf message
	json            atomic.Pointer[[]byte]
	frame           atomic.Pointer[[]byte] // see sharedFrame
}

// seal makes a stored object of obj at version rv. It sets obj's resourceVersion.
func (res *resource) seal(obj runtime.Object, rv uint64) (*object, error) {
	m := accessor(obj)
	m.SetResourceVersion(shownRV(rv))
	raw, err := obj.(message).Marshal()
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s as protobuf: %w", res.kind, m.GetName(), err)
	}
	key := keyOf(m.GetNamespace(), m.GetName())
	o := &object{
		res:       res,
		key:       key,
		namespace: key[:len(m.GetNamespace())], // parts of key, which take no memory of their own
		name:      key[len(key)-len(m.GetName()):],
		uid:       m.GetUID(),
		rv:        rv,
		deleting:  m.GetDeletionTimestamp() != nil,
		labels:    indexLabels(m.GetLabels()),
		raw:       raw,
	}
	if res.fields != nil {
		o.fields = res.fields(obj)
	}
	return o, nil
}

// decode returns the object as a new value, for the caller to keep.
func (o *object) decode() (runtime.Object, error) {
	obj := o.res.empty()
	if err := obj.(message).Unmarshal(o.raw); err != nil {
		return nil, fmt.Errorf("decoding stored %s %s: %w", o.res.kind, o.key, err)
	}
	return obj, nil
}

// at returns the same state under version rv.
func (o *object) at(rv uint64) (*object, error) {
	obj, err := o.decode()
	if err != nil {
		return nil, err
	}
	return o.res.seal(obj, rv)
}

// as is the same object under another version of its custom resource.
func (o *object) as(res *resource) *object {
	return &object{res: res, key: o.key, namespace: o.namespace, name: o.name, uid: o.uid, rv: o.rv,
		deleting: o.deleting, labels: o.labels, fields: o.fields, raw: o.raw}
}

// selected is the value of a stored custom object at a path as selectors see it, empty
// if there is none. It is read from the whole object: few select so, and versions differ.
func (o *object) selected(path []string) string {
	obj, err := o.decode()
	if err != nil {
		return ""
	}
	value, found, err := unstructured.NestedFieldNoCopy(obj.(*customObject).content, path...)
	if err != nil || !found || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// skim is decode without the bulk.
func (o *object) skim() (runtime.Object, error) {
	if o.res.bulk.field == 0 {
		return o.decode()
	}
	return (&object{res: o.res, key: o.key, raw: without(o.raw, o.res.bulk.field)}).decode()
}

func (o *object) hasFinalizers() bool {
	_, metadata, _ := cut(o.raw, metadataField)
	_, first, _ := cut(metadata, finalizersField)
	return first != nil
}

// clone returns the same state, with bytes that may be written to.
func (o *object) clone() *object {
	return &object{res: o.res, key: o.key, namespace: o.namespace, name: o.name, uid: o.uid, rv: o.rv,
		deleting: o.deleting, labels: o.labels, fields: o.fields, raw: bytes.Clone(o.raw)}
}

// sameBytes reports whether o and p are the same, the version included.
func (o *object) sameBytes(p *object) bool { return bytes.Equal(o.raw, p.raw) }

// sameSpec reports whether o and p differ in nothing that metadata.generation counts: all
// but metadata and status. The rules say whether there is a status of its own.
func (o *object) sameSpec(p *object, rules *resource) bool {
	_, _, a := cut(o.raw, metadataField)
	_, _, b := cut(p.raw, metadataField)
	if !rules.status {
		return bytes.Equal(a, b)
	}
	beforeA, _, afterA := cut(a, statusField)
	beforeB, _, afterB := cut(b, statusField)
	return bytes.Equal(beforeA, beforeB) && bytes.Equal(afterA, afterB)
}

func (o *object) sameButMetadata(p *object) bool {
	_, _, a := cut(o.raw, metadataField)
	_, _, b := cut(p.raw, metadataField)
	return bytes.Equal(a, b)
}
