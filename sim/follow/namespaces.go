package follow

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// MissingNamespaces returns the named namespaces that do not exist. A namespace that the user may not read
// counts as existing.
func MissingNamespaces(ctx context.Context, client kubernetes.Interface, names []string) (missing []string) {
	for _, name := range names {
		if name == metav1.NamespaceAll {
			continue
		}
		if _, err := client.CoreV1().Namespaces().Get(ctx, name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
			missing = append(missing, name)
		}
	}
	return missing
}

// distinct returns each namespace once, or only "" (all) if there are none or one of them is "".
func distinct(names []string) []string {
	if len(names) == 0 || slices.Contains(names, metav1.NamespaceAll) {
		return []string{metav1.NamespaceAll}
	}
	return slices.Compact(slices.Sorted(slices.Values(names)))
}
