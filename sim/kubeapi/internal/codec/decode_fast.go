package codec

import (
	"github.com/go-json-experiment/json"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// decodePlainJSON decodes a valid body in a third of the time that the decoder of Kubernetes needs.
// It returns nil for any body with a problem: that decoder then decides what is an error or a
// warning, and words it.
func decodePlainJSON(res *resource.Resource, body []byte) runtime.Object {
	obj := res.Empty()
	if err := json.Unmarshal(body, obj, json.RejectUnknownMembers(true)); err != nil {
		return nil
	}
	if obj.GetObjectKind().GroupVersionKind() != res.GVK() {
		return nil
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // empty, as after decoding protobuf
	return obj
}
