package kubeapi

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// message is what the generated code of every built-in kind offers.
type message interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func keyOf(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func formatRV(rv uint64) string { return strconv.FormatUint(rv, 10) }

// shownRV is empty for what is not stored: a dry run, a review.
func shownRV(rv uint64) string {
	if rv == 0 {
		return ""
	}
	return formatRV(rv)
}

// accessor returns the metadata of obj, which is of a built-in kind and so has some.
func accessor(obj runtime.Object) metav1.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		panic(fmt.Sprintf("kubeapi: %T has no metadata: %v", obj, err))
	}
	return m
}
