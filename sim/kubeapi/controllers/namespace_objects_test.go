package controllers_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// Every namespace has a service account and the CA's certificate, also after somebody deletes or
// changes them, and can still be deleted.
func TestNamespacesHaveTheirObjects(t *testing.T) {
	r := start(t, controllers.Options{RootCA: []byte("the CA")}, "serviceaccount", "rootca", "namespace")
	must(r.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{}))(r)
	for _, namespace := range []string{"default", "kube-system", "team"} {
		one(r, "serviceaccounts", namespace, "default", func(*corev1.ServiceAccount) bool { return true })
		one(r, "configmaps", namespace, "kube-root-ca.crt", func(c *corev1.ConfigMap) bool { return c.Data["ca.crt"] == "the CA" })
	}
	account := must(r.kube.CoreV1().ServiceAccounts("team").Get(t.Context(), "default", metav1.GetOptions{}))(r)
	if err := r.kube.CoreV1().ServiceAccounts("team").Delete(t.Context(), "default", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	one(r, "serviceaccounts", "team", "default", func(s *corev1.ServiceAccount) bool { return s.UID != account.UID })
	must(r.kube.CoreV1().ConfigMaps("team").Patch(t.Context(), "kube-root-ca.crt", types.MergePatchType, []byte(`{"data":{"ca.crt":"another"}}`), metav1.PatchOptions{}))(r)
	one(r, "configmaps", "team", "kube-root-ca.crt", func(c *corev1.ConfigMap) bool { return c.Data["ca.crt"] == "the CA" && c.ResourceVersion != "" })
	if err := r.kube.CoreV1().Namespaces().Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "no namespace", r.watch("namespaces", ""), func(all map[string]*corev1.Namespace) bool { return all["/team"] == nil })
}

func TestRootCAIsThatOfTheConnection(t *testing.T) {
	r := start(t, controllers.Options{}, "namespace")
	running, err := controllers.Start(t.Context(), r.api.TLSConfig(), controllers.Options{}, "rootca")
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	one(r, "configmaps", "default", "kube-root-ca.crt", func(c *corev1.ConfigMap) bool {
		return strings.HasPrefix(c.Data["ca.crt"], "-----BEGIN CERTIFICATE-----")
	})
}

func TestNodesHaveLeases(t *testing.T) {
	r := start(t, controllers.Options{Nodes: []string{"a", "b"}}, "kubelet")
	for _, name := range []string{"a", "b"} {
		lease := one(r, "leases", "kube-node-lease", name, func(*coordinationv1.Lease) bool { return true })
		node := must(r.kube.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{}))(r)
		if *lease.Spec.HolderIdentity != name || *lease.Spec.LeaseDurationSeconds != 40 || time.Since(lease.Spec.RenewTime.Time) > patience ||
			len(lease.OwnerReferences) != 1 || lease.OwnerReferences[0].UID != node.UID {
			t.Errorf("the lease of node %s: %+v", name, lease)
		}
	}
	first := must(r.kube.CoordinationV1().Leases("kube-node-lease").Get(t.Context(), "a", metav1.GetOptions{}))(r)
	running, err := controllers.Start(t.Context(), r.api.Config(), controllers.Options{Nodes: []string{"a"}}, "kubelet") // it renews the lease at once
	if err != nil {
		t.Fatal(err)
	}
	defer running.Stop()
	one(r, "leases", "kube-node-lease", "a", func(l *coordinationv1.Lease) bool { return l.Spec.RenewTime.After(first.Spec.RenewTime.Time) })
}
