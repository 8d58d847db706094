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

// ShownVersion is FormatVersion, but empty for version 0, which is that of an object that is not stored:
// the result of a dry run, or a review.
func ShownVersion(rv uint64) string {
	if rv == 0 {
		return ""
	}
	return FormatVersion(rv)
}

// Accessor returns the metadata of obj. It panics if obj has none; every built-in kind has metadata.
func Accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("kubeapi: %T has no metadata: %v", obj, err))
	}
	return m
}
