package controllers_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// owned creates a config map with these owners.
func (r rig) owned(name string, finalizers []string, owners ...*corev1.ConfigMap) *corev1.ConfigMap {
	r.Helper()
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Finalizers: finalizers}}
	for _, owner := range owners {
		cm.OwnerReferences = append(cm.OwnerReferences, metav1.OwnerReference{
			APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: new(true)})
	}
	return must(r.kube.CoreV1().ConfigMaps("default").Create(r.Context(), cm, metav1.CreateOptions{}))(r)
}

func (r rig) remove(name string) {
	r.Helper()
	if err := r.kube.CoreV1().ConfigMaps("default").Delete(r.Context(), name, metav1.DeleteOptions{}); err != nil {
		r.Fatal(err)
	}
}

// leaves waits until only these config maps exist.
func (r rig) leaves(names ...string) map[string]*corev1.ConfigMap {
	r.Helper()
	var left map[string]*corev1.ConfigMap
	until(r, "config maps", r.watch("configmaps", "default"), func(all map[string]*corev1.ConfigMap) bool {
		left = all
		for _, name := range names {
			if all["default/"+name] == nil {
				return false
			}
		}
		return len(all) == len(names)
	})
	return left
}

func TestDependentsAreDeletedWithTheirLastOwner(t *testing.T) {
	r := start(t, controllers.Options{}, "garbage")
	a, b := r.owned("a", nil), r.owned("b", nil)
	child := r.owned("child", nil, a)
	r.owned("grandchild", nil, child)
	r.owned("shared", nil, a, b)
	r.remove("a")
	left := r.leaves("b", "shared")
	if refs := left["default/shared"].OwnerReferences; len(refs) == 2 {
		until(r, "one owner", r.watch("configmaps", "default"), func(all map[string]*corev1.ConfigMap) bool {
			return len(all["default/shared"].OwnerReferences) == 1
		})
	}
	r.remove("b")
	r.leaves()
}

// With foreground deletion, an owner exists as long as its dependents.
func TestForegroundWaitsForDependents(t *testing.T) {
	r := start(t, controllers.Options{}, "garbage")
	owner := r.owned("owner", []string{metav1.FinalizerDeleteDependents})
	child := r.owned("child", []string{"example.com/hold"}, owner)
	r.remove("owner")
	until(r, "a deleted child, and its owner", r.watch("configmaps", "default"), func(all map[string]*corev1.ConfigMap) bool {
		return all["default/child"].DeletionTimestamp != nil && all["default/owner"] != nil
	})
	// The garbage collector may update the child at the same time, which a patch allows.
	must(r.kube.CoreV1().ConfigMaps("default").Patch(t.Context(), child.Name, types.MergePatchType, []byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{}))(r)
	r.leaves()
}

func TestOrphansAreNotDeleted(t *testing.T) {
	r := start(t, controllers.Options{}, "garbage")
	owner := r.owned("owner", []string{metav1.FinalizerOrphanDependents})
	r.owned("child", nil, owner)
	r.remove("owner")
	if left := r.leaves("child"); len(left["default/child"].OwnerReferences) != 0 {
		t.Errorf("orphan has owners %v", left["default/child"].OwnerReferences)
	}
}

// An owner of a kind that the server does not serve may exist elsewhere, so it is no reason to
// delete.
func TestUnknownOwnersKeepDependents(t *testing.T) {
	r := start(t, controllers.Options{}, "garbage")
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "example.com/v1", Kind: "Widget", Name: "w", UID: "1"}}}}
	must(r.kube.CoreV1().ConfigMaps("default").Create(t.Context(), cm, metav1.CreateOptions{}))(r)
	a := r.owned("a", nil)
	r.owned("b", nil, a)
	r.remove("a")
	r.leaves("kept")
}

func TestDeletedDeploymentDeletesReplicaSetsAndPods(t *testing.T) {
	r := start(t, controllers.Options{})
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), web(3), metav1.CreateOptions{}))(r)
	until(r, "three pods", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 3 })
	if err := r.kube.AppsV1().Deployments("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "no replica set", r.watch("replicasets", "default"), func(sets map[string]*appsv1.ReplicaSet) bool { return len(sets) == 0 })
	until(r, "no pods", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
}

// An object without a namespace cannot have an owner with one. Its owner is not resolved, so it stays.
func TestClusterScopedDependentsOfNamespacedOwnersStay(t *testing.T) {
	r := start(t, controllers.Options{}, "garbage")
	owner := r.owned("owner", nil)
	class := &networkingv1.IngressClass{ObjectMeta: metav1.ObjectMeta{Name: "kept", OwnerReferences: []metav1.OwnerReference{
		{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/c"}}
	must(r.kube.NetworkingV1().IngressClasses().Create(t.Context(), class, metav1.CreateOptions{}))(r)
	a := r.owned("a", nil)
	r.owned("b", nil, a)
	r.remove("a")
	r.leaves("owner")
	must(r.kube.NetworkingV1().IngressClasses().Get(t.Context(), "kept", metav1.GetOptions{}))(r)
}
