package object

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Message is what the generated code of every built-in kind offers.
type Message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func Key(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func FormatVersion(rv uint64) string { return strconv.FormatUint(rv, 10) }

// ShownVersion is empty for what is not stored: a dry run, a review.
func ShownVersion(rv uint64) string {
	if rv == 0 {
		return ""
	}
	return FormatVersion(rv)
}

// Accessor returns the metadata of obj, which is of a built-in kind and so has some.
func Accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("kubeapi: %T has no metadata: %v", obj, err))
	}
	return m
}
