package kubeapi

import (
	"reflect"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/load"
)

// What is read from and written to stored bytes is what decoding and encoding
// would have read and written, for every kind.
func TestRawBytesAgreeWithObjects(t *testing.T) {
	t.Parallel()
	for _, res := range resources {
		for seed := range int64(10) {
			obj := random(res, seed)
			metadataOf(obj).Finalizers = nil
			if seed%2 == 0 {
				metadataOf(obj).Finalizers = []string{"a"}
			}
			o := sealed(t, res, obj, 4711)
			if o.hasFinalizers() != (seed%2 == 0) {
				t.Errorf("%s: finalizers are %v", res.kind, metadataOf(obj).Finalizers)
			}
			if putRV(o.raw, "100000") || putRV(o.raw, "1") {
				t.Errorf("%s: wrote a version of another length", res.kind)
			}
			if !putRV(o.raw, "4712") {
				t.Fatalf("%s: wrote no version", res.kind)
			}
			decoded, err := o.decode()
			if err != nil || metadataOf(decoded).ResourceVersion != "4712" {
				t.Errorf("%s: version %s, %v", res.kind, metadataOf(decoded).ResourceVersion, err)
			}
			metadataOf(decoded).ResourceVersion = metadataOf(obj).ResourceVersion
			decoded.GetObjectKind().SetGroupVersionKind(res.gvk())
			if !equality.Semantic.DeepEqual(decoded, obj) {
				t.Errorf("%s: a new version changed more than that:\n%+v\n%+v", res.kind, decoded, obj)
			}
		}
	}
}

func TestSameSpec(t *testing.T) {
	for _, res := range resources {
		if !res.generation {
			continue
		}
		a, b := random(res, 1), random(res, 2)
		was := sealed(t, res, a, 7)
		*metadataOf(a) = *metadataOf(b)
		if res.status {
			setStatus(a, b)
		}
		if is := sealed(t, res, a, 1234567); !was.sameSpec(is, res) {
			t.Errorf("%s: metadata and status count as its spec", res.kind)
		}
		if was.sameSpec(sealed(t, res, b, 7), res) {
			t.Errorf("%s: another spec is the same", res.kind)
		}
		// One of the two may be empty by chance, but not both.
		if none := sealed(t, res, res.empty(), 7); was.sameSpec(none, res) && sealed(t, res, b, 7).sameSpec(none, res) {
			t.Errorf("%s: no spec is the same", res.kind)
		}
	}
}

func TestBulkIsLeftOut(t *testing.T) {
	res := rows()[reflect.TypeFor[*discoveryv1.EndpointSlice]()]
	slice := load.Slice("default", "web", 10)
	o := sealed(t, res, slice, 7)
	skimmed, err := o.skim()
	if err != nil {
		t.Fatal(err)
	}
	got := skimmed.(*discoveryv1.EndpointSlice)
	if got.Name != "web" || got.AddressType != slice.AddressType || len(got.Ports) != 1 || len(got.Endpoints) != 0 {
		t.Errorf("skimmed %+v", got)
	}
	copied := res.copyOf(slice).(*discoveryv1.EndpointSlice)
	copied.Labels["x"], *copied.Ports[0].Port = "y", 1
	if slice.Labels["x"] != "" || *slice.Ports[0].Port != 8080 || len(copied.Endpoints) != 10 {
		t.Errorf("the copy shares more than the endpoints: %+v", slice)
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

func sealed(t *testing.T, res *resource, obj runtime.Object, rv uint64) *object {
	t.Helper()
	o, err := res.seal(obj, rv)
	if err != nil {
		t.Fatal(err)
	}
	return o
}
