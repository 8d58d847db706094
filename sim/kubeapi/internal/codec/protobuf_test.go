package codec

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
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
