package controllers_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// A namespace terminates as long as finalizers hold its objects; nothing new can be created in it.
func TestNamespaceEndsWhenItIsEmpty(t *testing.T) {
	r := start(t, controllers.Options{}, "namespace")
	spaces, maps := r.kube.CoreV1().Namespaces(), r.kube.CoreV1().ConfigMaps("team")
	must(spaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{}))(r)
	for name, finalizers := range map[string][]string{"free": nil, "held": {"example.com/hold"}} {
		must(maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}, metav1.CreateOptions{}))(r)
	}
	if err := spaces.Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "only the object with a finalizer", r.watch("configmaps", "team"), func(all map[string]*corev1.ConfigMap) bool {
		return len(all) == 1 && all["team/held"] != nil && all["team/held"].DeletionTimestamp != nil
	})
	if ns := must(spaces.Get(t.Context(), "team", metav1.GetOptions{}))(r); ns.Status.Phase != corev1.NamespaceTerminating {
		t.Errorf("phase %s", ns.Status.Phase)
	}
	_, err := maps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late"}}, metav1.CreateOptions{})
	if !errors.IsForbidden(err) || !errors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || !strings.Contains(err.Error(), "because it is being terminated") {
		t.Errorf("creating an object in it: %v", err)
	}
	must(maps.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}))(r)
	until(r, "no namespace", r.watch("namespaces", ""), func(all map[string]*corev1.Namespace) bool { return all["/team"] == nil })
}
