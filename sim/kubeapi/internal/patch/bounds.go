package patch

import (
	"fmt"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/errors"

	"windtunnel.dev/sim/kubeapi/internal/codec"
)

// Bounds on a patch, in addition to the size of its body. maxPatchOperations is kube-apiserver's.
// The other bounds keep one request from occupying the libraries for minutes. kube-apiserver uses
// the same libraries.
const (
	// maxPatchOperations bounds a JSON patch.
	maxPatchOperations = 10000
	// maxNested bounds the bytes of a merge patch, each counted once per level of nesting,
	// because the library reads them again at each level.
	maxNested = 32 << 20
	// maxRead bounds the bytes of an object times the number of times that the library reads
	// them: once per operation and per level of the patch.
	maxRead = 256 << 20
	// maxPatchElements bounds the elements of all lists of a strategic merge patch, each of
	// which the library looks up in the list of the object.
	maxPatchElements = 10000
)

// The bound on the total size of the copy operations of a JSON patch is kube-apiserver's.
func init() { jsonpatch.AccumulatedCopySizeLimit = 10 * codec.MaxBody }

func errTooLarge(format string, args ...any) error {
	return errors.NewRequestEntityTooLargeError(fmt.Sprintf(format, args...))
}

// countReads returns an upper bound of the number of times that a JSON patch reads the object.
func countReads(operations []jsonPatchOp) int {
	deepest := 0
	for _, op := range operations {
		deepest = max(deepest, strings.Count(op.Path, "/"), strings.Count(op.From, "/"))
	}
	return len(operations) + deepest
}

// countElements counts the elements of all lists in a JSON value.
func countElements(value any) (n int) {
	switch value := value.(type) {
	case map[string]any:
		for _, v := range value {
			n += countElements(v)
		}
	case []any:
		n = len(value)
		for _, v := range value {
			n += countElements(v)
		}
	}
	return n
}
