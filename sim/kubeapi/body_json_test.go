package kubeapi

import (
	"encoding/json"
	"math/rand"
	"testing"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/equality"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/load"
)

// random returns an object of a row with all its fields filled at random.
func random(res *resource, seed int64) runtime.Object {
	obj := res.empty()
	fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), scheme.Codecs).Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(res.gvk())
	return obj
}

// agree decodes body by the fast decoder and by that of Kubernetes, and says whether the fast one took it.
func agree(t *testing.T, res *resource, body []byte) bool {
	t.Helper()
	fast := decodePlainJSON(res, body)
	if fast == nil {
		return false
	}
	gvk := res.gvk()
	slow, got, err := strictJSON.Decode(body, &gvk, res.empty())
	if err != nil || *got != gvk {
		t.Fatalf("took %s, of which Kubernetes' decoder says %v %v", body, got, err)
	}
	slow.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	if !equality.Semantic.DeepEqual(fast, slow) {
		t.Fatalf("of %s made %+v, not %+v", body, fast, slow)
	}
	return true
}

func TestPlainJSONIsDecodedAlike(t *testing.T) {
	t.Parallel()
	for _, res := range resources {
		taken := 0
		for seed := range int64(20) {
			body, err := json.Marshal(random(res, seed))
			if err != nil {
				t.Fatal(err)
			}
			if agree(t, res, body) {
				taken++
			}
		}
		if taken == 0 {
			t.Errorf("%s: none is decoded fast", res.name)
		}
	}
}

func FuzzPlainJSON(f *testing.F) {
	kinds := []string{"endpointslices", "ingresses", "services", "secrets", "leases"}
	rowOf := func(n uint8) *resource {
		for _, res := range resources {
			if res.name == kinds[int(n)%len(kinds)] {
				return res
			}
		}
		panic("no such row")
	}
	for i := range kinds {
		res := rowOf(uint8(i))
		for seed := range int64(3) {
			body, err := json.Marshal(random(res, seed))
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

// What was decoded fast is stored as it was sent, and an unknown field is still told of.
func TestPlainJSONKeepsWarnings(t *testing.T) {
	s := start(t)
	var warned []string
	config := s.Config()
	config.ContentType = "application/json"
	config.WarningHandler = warnings(func(text string) { warned = append(warned, text) })
	c := client(t, config).CoreV1().RESTClient()
	body := `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"},"data":{"k":"v"},"dada":{}}`
	if err := c.Post().Resource("configmaps").Namespace("default").Body([]byte(body)).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	if len(warned) != 1 || warned[0] != `unknown field "dada"` {
		t.Errorf("warnings %q", warned)
	}
	cm, err := client(t, s.Config()).CoreV1().ConfigMaps("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || cm.Data["k"] != "v" {
		t.Errorf("got %v, %v", cm, err)
	}
}

type warnings func(string)

func (w warnings) HandleWarningHeader(_ int, _, text string) { w(text) }
