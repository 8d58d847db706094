package kubeapi

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// message is what the generated code of every built-in kind offers.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func formatRV(rv uint64) string { return strconv.FormatUint(rv, 10) }

// shownRV is empty for what is not stored: a dry run, a review.
func shownRV(rv uint64) string {
	if rv == 0 {
		return ""
	}
	return formatRV(rv)
}

// accessor returns the metadata of obj, which is of a built-in kind and so has some.
func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("kubeapi: %T has no metadata: %v", obj, err))
	}
	return m
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

// asJSON returns the object as a line of JSON. With keep the bytes are held for
// the next caller: for events that many watchers will read.
func (o *object) asJSON(keep bool) ([]byte, error) {
	if b := o.json.Load(); b != nil {
		return *b, nil
	}
	obj, err := o.decode()
	if err != nil {
		return nil, err
	}
	return o.encodeJSON(obj, keep)
}

// encodeJSON is asJSON for who has the object decoded.
func (o *object) encodeJSON(obj runtime.Object, keep bool) ([]byte, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s as JSON: %w", o.res.kind, o.key, err)
	}
	head := o.res.jsonHead()
	b := make([]byte, 0, len(head)+len(body))
	b = append(b, head...)
	b = append(b, body[1:]...) // without its opening brace, which head has
	b = append(b, '\n')
	if keep {
		o.json.Store(&b)
	}
	return b, nil
}

// jsonHead opens an object with its kind and apiVersion, which stored objects
// do not carry; they all go on with their metadata.
func (res *resource) jsonHead() string {
	return `{"kind":"` + res.kind + `","apiVersion":"` + res.typeMeta("").APIVersion + `",`
}
