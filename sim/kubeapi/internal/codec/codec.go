// Package codec turns stored objects into the bytes that a client asked for, and the bytes that a
// client sent into objects. It stands between the HTTP surface and the store. Its one rule: formats
// and error messages are those of kube-apiserver.
package codec

import (
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Codec writes bytes in one content type.
type Codec interface {
	MediaType() string
	StreamType() string // content type of a watch
	// Object encodes one stored object; with keep it keeps the bytes for other watchers.
	Object(o *store.Object, keep bool) ([]byte, error)
	List(w io.Writer, res *resource.Resource, objects []*store.Object, m metav1.ListMeta) error
	// Value encodes any other object, such as a Status or a Table. The object must carry its kind.
	Value(obj runtime.Object) ([]byte, error)
	// Frame appends a watch event around an encoded object.
	Frame(buf []byte, kind watch.EventType, object []byte) []byte
}
