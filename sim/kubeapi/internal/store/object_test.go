package store

import (
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/kinds/kindtest"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/load"
)

// Reading and writing stored bytes has the same results as decoding and encoding the object, for
// every kind.
func TestRawBytesAgreeWithObjects(t *testing.T) {
	t.Parallel()
	for _, res := range kinds.BuiltIn {
		for seed := range int64(10) {
			obj := kindtest.Random(res, seed)
			object.Meta(obj).Finalizers = nil
			if seed%2 == 0 {
				object.Meta(obj).Finalizers = []string{"a"}
			}
			o := encoded(t, res, obj, 4711)
			if o.HasFinalizers() != (seed%2 == 0) {
				t.Errorf("%s: finalizers are %v", res.Kind, object.Meta(obj).Finalizers)
			}
			if object.OverwriteVersion(o.Raw, "100000") || object.OverwriteVersion(o.Raw, "1") {
				t.Errorf("%s: accepted a version of another length", res.Kind)
			}
			if !object.OverwriteVersion(o.Raw, "4712") {
				t.Fatalf("%s: wrote no version", res.Kind)
			}
			decoded, err := o.Decode()
			if err != nil || object.Meta(decoded).ResourceVersion != "4712" {
				t.Errorf("%s: version %s, %v", res.Kind, object.Meta(decoded).ResourceVersion, err)
			}
			object.Meta(decoded).ResourceVersion = object.Meta(obj).ResourceVersion
			decoded.GetObjectKind().SetGroupVersionKind(res.GVK())
			if !equality.Semantic.DeepEqual(decoded, obj) {
				t.Errorf("%s: setting a version changed other fields:\n%+v\n%+v", res.Kind, decoded, obj)
			}
		}
	}
}

func TestSameSpec(t *testing.T) {
	for _, res := range kinds.BuiltIn {
		if !res.Generation {
			continue
		}
		a, b := kindtest.Random(res, 1), kindtest.Random(res, 2)
		was := encoded(t, res, a, 7)
		*object.Meta(a) = *object.Meta(b)
		if res.Status {
			object.SetStatus(a, b)
		}
		if is := encoded(t, res, a, 1234567); !was.SameSpec(is, res) {
			t.Errorf("%s: a change of metadata and status counts as a change of the spec", res.Kind)
		}
		if was.SameSpec(encoded(t, res, b, 7), res) {
			t.Errorf("%s: different specs are reported as the same", res.Kind)
		}
		// One of the two may be empty by chance, but not both.
		if none := encoded(t, res, res.Empty(), 7); was.SameSpec(none, res) && encoded(t, res, b, 7).SameSpec(none, res) {
			t.Errorf("%s: an empty spec is reported as the same", res.Kind)
		}
	}
}

func TestLargeFieldIsLeftOut(t *testing.T) {
	res := kinds.Find(discoveryv1.SchemeGroupVersion, "endpointslices")
	slice := load.Slice("default", "web", 10)
	o := encoded(t, res, slice, 7)
	decoded, err := o.DecodeWithoutLargeField()
	if err != nil {
		t.Fatal(err)
	}
	got := decoded.(*discoveryv1.EndpointSlice)
	if got.Name != "web" || got.AddressType != slice.AddressType || len(got.Ports) != 1 || len(got.Endpoints) != 0 {
		t.Errorf("decoded %+v", got)
	}
	copied := res.CopyOf(slice).(*discoveryv1.EndpointSlice)
	copied.Labels["x"], *copied.Ports[0].Port = "y", 1
	if slice.Labels["x"] != "" || *slice.Ports[0].Port != 8080 || len(copied.Endpoints) != 10 {
		t.Errorf("the copy shares more than the endpoints with the original: %+v", slice)
	}
}

func TestLabelIndex(t *testing.T) {
	index := indexLabels(map[string]string{"b": "2", "a": "1", "c": ""})
	if index[0].key != "a" || !index.Has("c") || index.Get("b") != "2" || index.Has("d") {
		t.Errorf("index %v", index)
	}
	sel, err := metav1.LabelSelectorAsSelector(&metav1.LabelSelector{MatchLabels: map[string]string{"a": "1", "c": ""}})
	if err != nil || !sel.Matches(index) || sel.Matches(indexLabels(nil)) {
		t.Errorf("selector %v: %v", sel, err)
	}
}

func encoded(t *testing.T, res *resource.Resource, obj runtime.Object, rv uint64) *Object {
	t.Helper()
	o, err := Encode(res, obj, rv)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
