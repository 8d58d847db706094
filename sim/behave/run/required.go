package run

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// requiredBy returns the services that a controller with these flags requires at its start, with
// their namespaces. A case with these flags replaces them by its own services.
func requiredBy(flags map[string]string) []runtime.Object {
	var objects []runtime.Object
	for _, flag := range []string{"default-backend-service", "publish-service"} {
		namespace, name, ok := strings.Cut(flags[flag], "/")
		if !ok {
			continue
		}
		objects = append(objects,
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}},
			&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "http", Port: 80}}}},
		)
	}
	return objects
}
