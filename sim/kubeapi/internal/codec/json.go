package codec

import (
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// JSON writes JSON as kube-apiserver does: single objects carry their kind, items of a list do not,
// and each document ends with a newline.
type JSON struct{}

func (JSON) MediaType() string { return "application/json" }

func (JSON) StreamType() string { return "application/json" }

func (JSON) Object(o *store.Object, keep bool) ([]byte, error) { return asJSON(o, keep) }

func (JSON) List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error {
	head, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        any `json:"metadata"`
	}{res.TypeMeta("List"), listMeta(res, m)})
	if err != nil {
		return err
	}
	w.Write(head[:len(head)-1])
	io.WriteString(w, `,"items":[`)
	for i, o := range objects {
		if i > 0 {
			io.WriteString(w, ",")
		}
		b, err := asJSON(o, false)
		if err != nil {
			return err
		}
		if o.Resource.Custom != nil { // its items carry their kind
			w.Write(b[:len(b)-1])
			continue
		}
		io.WriteString(w, "{")
		w.Write(b[len(jsonHead(o.Resource)) : len(b)-1]) // an item, without its kind and the final newline
	}
	_, err = io.WriteString(w, "]}\n") // returns the error of an earlier write, too
	return err
}

// listMeta is the metadata of a list as JSON. As in kube-apiserver, a list of custom objects has a
// continue field even if it is empty.
func listMeta(res *resource.Resource, m metav1.ListMeta) any {
	if res.Custom == nil {
		return m
	}
	return struct {
		metav1.ListMeta `json:",inline"`
		Continue        string `json:"continue"`
	}{m, m.Continue}
}

func (JSON) Value(obj runtime.Object) ([]byte, error) {
	b, err := json.Marshal(obj)
	return append(b, '\n'), err
}

func (JSON) Frame(buf []byte, kind watch.EventType, object []byte) []byte {
	buf = append(buf, `{"type":"`...)
	buf = append(buf, kind...)
	buf = append(buf, `","object":`...)
	for n := len(object); n > 0 && object[n-1] == '\n'; n-- {
		object = object[:n-1]
	}
	buf = append(buf, object...)
	return append(buf, "}\n"...)
}

// asJSON returns the object as a line of JSON. With keep it keeps the bytes for the other watchers
// of an event.
func asJSON(o *store.Object, keep bool) ([]byte, error) {
	if b := o.JSON.Load(); b != nil {
		return *b, nil
	}
	obj, err := o.Decode()
	if err != nil {
		return nil, err
	}
	return EncodeJSON(o, obj, keep)
}

// EncodeJSON is like asJSON, for a caller that has the object decoded.
func EncodeJSON(o *store.Object, obj runtime.Object, keep bool) ([]byte, error) {
	body, err := json.Marshal(obj)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s as JSON: %w", o.Resource.Kind, o.Key, err)
	}
	head := jsonHead(o.Resource)
	b := make([]byte, 0, len(head)+len(body))
	b = append(b, head...)
	b = append(b, body[1:]...) // without the opening brace, which is part of head
	b = append(b, '\n')
	if keep {
		o.JSON.Store(&b)
	}
	return b, nil
}

// jsonHead returns the beginning of an object, with its kind and apiVersion, which stored objects
// do not have. In all of them the metadata comes next.
func jsonHead(res *resource.Resource) string {
	return `{"kind":"` + res.Kind + `","apiVersion":"` + res.TypeMeta("").APIVersion + `",`
}
