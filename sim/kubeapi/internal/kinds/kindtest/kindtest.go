// Package kindtest makes objects for tests that cover every kind. It stands between the table
// of kinds and those tests. Its one rule: the same seed gives the same object.
package kindtest

import (
	"math/rand"

	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Random returns an object of the row's kind with random values in all its fields.
func Random(res *resource.Resource, seed int64) runtime.Object {
	obj := res.Empty()
	fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(seed), scheme.Codecs).Fill(obj)
	obj.GetObjectKind().SetGroupVersionKind(res.GVK())
	if res.Decoded != nil {
		res.Decoded(obj)
	}
	return obj
}
