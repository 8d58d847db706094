package kubeapi

import "testing"

// TestClusterWideObjectWithNamespace writes an object of a kind without namespaces whose metadata has
// one. Charts often set it, and kube-apiserver removes it.
func TestClusterWideObjectWithNamespace(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	const path, one = "/apis/networking.k8s.io/v1/ingressclasses", "/apis/networking.k8s.io/v1/ingressclasses/a"
	for _, write := range []struct {
		method, path, body string
		code               int
	}{
		{"POST", path, `{"metadata":{"name":"a","namespace":"default"},"spec":{"controller":"k8s.io/a"}}`, 201},
		{"PUT", one, `{"metadata":{"name":"a","namespace":"default","labels":{"app":"web"}},"spec":{"controller":"k8s.io/a"}}`, 200},
	} {
		code, obj := w.do(write.method, write.path, write.body)
		if code != write.code || obj.GetNamespace() != "" {
			t.Errorf("%s: %d %q, namespace %q", write.method, code, text(obj, "message"), obj.GetNamespace())
		}
	}
	if _, obj := w.do("GET", one, ""); obj.GetLabels()["app"] != "web" || obj.GetNamespace() != "" {
		t.Errorf("the object is %v", obj.Object["metadata"])
	}
}
