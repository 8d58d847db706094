package codec

import (
	"bytes"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/kinds/kindtest"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// apimachinery can read the envelopes that the protobuf codec writes by hand.
func TestProtobufEnvelope(t *testing.T) {
	for _, size := range []int{0, 1, 100, 127, 128, 129, 20000, 1 << 21} {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, BinaryData: map[string][]byte{"k": make([]byte, size)}}
		o, err := store.Encode(kinds.Find(schema.GroupVersion{Version: "v1"}, "configmaps"), cm, 7)
		if err != nil {
			t.Fatal(err)
		}
		frame := framed(t, o)
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(frame, nil, nil)
		if err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		if got := obj.(*corev1.ConfigMap); got.Name != "a" || got.ResourceVersion != "7" || len(got.BinaryData["k"]) != size {
			t.Errorf("%d bytes came back as %d", size, len(got.BinaryData["k"]))
		}
	}
}

// framed puts o into a watch frame and decodes it again with apimachinery.
func framed(t *testing.T, o *store.Object) []byte {
	t.Helper()
	body, err := Protobuf{}.Object(o, false)
	if err != nil {
		t.Fatal(err)
	}
	if whole := (Protobuf{}).AppendFrame(nil, "ADDED", o); !bytes.Equal(whole, Protobuf{}.Frame(nil, "ADDED", body)) {
		t.Error("a frame that is built in place differs")
	}
	var e metav1.WatchEvent
	if err := e.Unmarshal(Protobuf{}.Frame(nil, "ADDED", body)[4:]); err != nil {
		t.Fatal(err)
	}
	if e.Type != "ADDED" {
		t.Errorf("type %q", e.Type)
	}
	return e.Object.Raw
}

// The frame that an object keeps is the one of its present version, and it is in bytes of its own.
func TestKeptFrame(t *testing.T) {
	for _, res := range kinds.BuiltIn {
		objects := store.NewCollection(res, new(atomic.Uint64))
		commit := func(kind watch.EventType, base *store.Object, obj runtime.Object) *store.Object {
			t.Helper()
			o, err := objects.Write(kind, base, obj)
			if err != nil {
				t.Fatal(err)
			}
			if want := (Protobuf{}).AppendFrame(nil, watch.Modified, o); !bytes.Equal(o.Frame, want) {
				t.Errorf("%s keeps the frame\n%q, want\n%q", res.Kind, o.Frame, want)
			}
			body, err := Protobuf{}.Object(o, false)
			if err != nil {
				t.Fatal(err)
			}
			message, err := res.Unmarshal(body[len(body)-len(o.Raw):])
			if err != nil || object.Meta(message).ResourceVersion != object.FormatVersion(o.Version) {
				t.Errorf("%s: the body has version %s and error %v, want version %d", res.Kind, object.Meta(message).ResourceVersion, err, o.Version)
			}
			return o
		}
		var last *store.Object
		for seed := range int64(12) { // versions of one digit and of two
			obj := kindtest.Random(res, seed)
			object.Meta(obj).Namespace, object.Meta(obj).Name = "", "a"
			last = commit(watch.Modified, last, obj)
		}
		frame := bytes.Clone(last.Frame)
		if _, err := objects.Commit(store.Removal(last)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(last.Frame, frame) {
			t.Errorf("%s: the removal changed the frame of the last state", res.Kind)
		}
	}
}

// FuzzEnvelope compares the decoding of envelopes with that of apimachinery, which accepts more: it
// does not check that the groups among unknown fields match.
func FuzzEnvelope(f *testing.F) {
	whole, err := (&runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: "v1", Kind: "Pod"}, Raw: []byte("raw"), ContentEncoding: "e", ContentType: "t"}).Marshal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(append(whole, whole...))
	f.Add([]byte{0x12, 0x7f})
	f.Add([]byte{0x10, 1})
	f.Add([]byte{0x28, 1, 0x0b, 0x0c})
	f.Fuzz(func(t *testing.T, unknown []byte) {
		var want runtime.Unknown
		refused := want.Unmarshal(unknown)
		got, message, err := OpenEnvelope(append([]byte(object.ProtobufMagic), unknown...))
		if err == nil && refused != nil {
			t.Fatalf("accepted what apimachinery refuses: %v", refused)
		}
		if err == nil && (got != want.TypeMeta || !bytes.Equal(message, want.Raw)) {
			t.Errorf("got %+v %q, want %+v %q", got, message, want.TypeMeta, want.Raw)
		}
	})
}
