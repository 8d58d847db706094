package codec

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/kinds/kindtest"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/load"
)

// agree decodes body with the fast decoder and with that of Kubernetes, and reports whether the
// fast one accepted it.
func agree(t *testing.T, res *resource.Resource, body []byte) bool {
	t.Helper()
	fast := decodePlainJSON(res, body)
	if fast == nil {
		return false
	}
	gvk := res.GVK()
	slow, got, err := strictJSON.Decode(body, &gvk, res.Empty())
	if err != nil || *got != gvk {
		t.Fatalf("the fast decoder accepted %s; Kubernetes' decoder returned %v %v", body, got, err)
	}
	slow.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if !equality.Semantic.DeepEqual(fast, slow) {
		t.Fatalf("decoding %s: got %+v, want %+v", body, fast, slow)
	}
	return true
}

func TestFastDecoderMatchesKubernetes(t *testing.T) {
	t.Parallel()
	for _, res := range kinds.BuiltIn {
		taken := 0
		for seed := range int64(20) {
			body, err := json.Marshal(kindtest.Random(res, seed))
			if err != nil {
				t.Fatal(err)
			}
			if agree(t, res, body) {
				taken++
			}
		}
		if taken == 0 {
			t.Errorf("%s: the fast decoder accepted none", res.Name)
		}
	}
}

func FuzzPlainJSON(f *testing.F) {
	names := []string{"endpointslices", "ingresses", "services", "secrets", "leases"}
	rowOf := func(n uint8) *resource.Resource {
		for _, res := range kinds.BuiltIn {
			if res.Name == names[int(n)%len(names)] {
				return res
			}
		}
		panic("no such row")
	}
	for i := range names {
		res := rowOf(uint8(i))
		for seed := range int64(3) {
			body, err := json.Marshal(kindtest.Random(res, seed))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), body)
		}
	}
	body, err := json.Marshal(load.Slice("default", "web", 2))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(uint8(0), body)
	f.Add(uint8(3), []byte(`{"kind":"Secret","apiVersion":"v1","metadata":{"name":"a","creationTimestamp":null},"data":{"k":"dg=="},"type":null}`))
	f.Add(uint8(2), []byte(`{"kind":"Service","apiVersion":"v1","spec":{"ports":[{"port":80,"targetPort":"http"},{"port":1e2}]}}`))
	f.Fuzz(func(t *testing.T, kind uint8, body []byte) { agree(t, rowOf(kind), body) })
}
