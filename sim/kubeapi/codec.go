package kubeapi

import (
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// codec writes bytes in one content type.
type codec interface {
	mediaType() string
	streamType() string // of a watch
	// object encodes one stored object; with keep the bytes are held for others.
	object(o *object, keep bool) ([]byte, error)
	list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error
	// value encodes anything else: a Status, a Table …; it must carry its kind.
	value(obj runtime.Object) ([]byte, error)
	// frame appends one watch event around an encoded object.
	frame(buf []byte, kind watch.EventType, object []byte) []byte
}

// jsonCodec writes JSON as kube-apiserver does: single objects carry their kind,
// items of a list do not, and a line ends each document.
type jsonCodec struct{}

func (jsonCodec) mediaType() string  { return "application/json" }
func (jsonCodec) streamType() string { return "application/json" }

func (jsonCodec) object(o *object, keep bool) ([]byte, error) { return asJSON(o, keep) }

func (jsonCodec) list(w io.Writer, res *resource, objects []*object, m metav1.ListMeta) error {
	head, err := json.Marshal(struct {
		metav1.TypeMeta `json:",inline"`
		Metadata        any `json:"metadata"`
	}{res.typeMeta("List"), listMeta(res, m)})
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
		if o.res.custom != nil { // its items carry their kind
			w.Write(b[:len(b)-1])
			continue
		}
		io.WriteString(w, "{")
		w.Write(b[len(jsonHead(o.res)) : len(b)-1]) // an item, without kind and line end
	}
	_, err = io.WriteString(w, "]}\n") // a failed write before fails here, too
	return err
}

// listMeta is the metadata of a list as JSON has it: kube-apiserver's of custom objects
// shows where to continue even if that is nowhere.
func listMeta(res *resource, m metav1.ListMeta) any {
	if res.custom == nil {
		return m
	}
	return struct {
		metav1.ListMeta `json:",inline"`
		Continue        string `json:"continue"`
	}{m, m.Continue}
}

func (jsonCodec) value(obj runtime.Object) ([]byte, error) {
	b, err := json.Marshal(obj)
	return append(b, '\n'), err
}

func (jsonCodec) frame(buf []byte, kind watch.EventType, object []byte) []byte {
	buf = append(buf, `{"type":"`...)
	buf = append(buf, kind...)
	buf = append(buf, `","object":`...)
	for n := len(object); n > 0 && object[n-1] == '\n'; n-- {
		object = object[:n-1]
	}
	buf = append(buf, object...)
	return append(buf, "}\n"...)
}
