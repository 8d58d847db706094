package codec

import (
	"github.com/go-json-experiment/json"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// decodePlainJSON decodes what nothing is wrong with, in a third of the time that the
// decoder of Kubernetes takes. It returns nil for anything else: that decoder has the
// last word on what is an error, what a warning, and how they are worded.
func decodePlainJSON(res *resource.Resource, body []byte) runtime.Object {
	obj := res.Empty()
	if err := json.Unmarshal(body, obj, json.RejectUnknownMembers(true)); err != nil {
		return nil
	}
	if obj.GetObjectKind().GroupVersionKind() != res.GVK() {
		return nil
	}
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{}) // as protobuf leaves it
	return obj
}
