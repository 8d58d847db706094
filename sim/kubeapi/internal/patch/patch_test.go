package patch

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// An error about an operation names the type of kube-apiserver, not the one of this package.
func TestMalformedOperation(t *testing.T) {
	_, err := Parse(types.JSONPatchType, []byte(`[1]`))
	if err == nil || !strings.Contains(err.Error(), "handlers.jsonPatchOp") || strings.Contains(err.Error(), "patch.jsonPatchOp") {
		t.Errorf("got %v", err)
	}
}
