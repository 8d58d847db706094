package object

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Message is implemented by the generated code of every built-in kind.
type Message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

// Key is the key of an object: namespace/name, or the name alone.
func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

// FormatVersion returns a version as a resourceVersion.
func FormatVersion(rv uint64) string { return strconv.FormatUint(rv, 10) }

// ShownVersion is FormatVersion, but empty for version 0: an object that is not stored, as of a dry
// run or a review.
func ShownVersion(rv uint64) string {
	if rv == 0 {
		return ""
	}
	return FormatVersion(rv)
}

// Accessor returns the metadata of obj, which must have some, as every built-in kind has.
func Accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("kubeapi: %T has no metadata: %v", obj, err))
	}
	return m
}
