package kubeapi

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// No two services have the same address, whether a client or the server chose it. An address is
// free again when its service was deleted, or was never created.
func TestClusterIPsAreUnique(t *testing.T) {
	s := start(t)
	services := client(t, s.Config()).CoreV1().Services("default")
	create := func(name, ip string, opts metav1.CreateOptions) (*corev1.Service, error) {
		return services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name},
			Spec: corev1.ServiceSpec{ClusterIP: ip, Ports: []corev1.ServicePort{{Port: 80}}}}, opts)
	}
	probe, err := create("probe", "", metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(probe.Spec.ClusterIP, "10.96.0.") {
		t.Fatalf("address %s", probe.Spec.ClusterIP)
	}
	const asked = "10.96.0.5"
	if _, err := create("dry", asked, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Error("dry run:", err)
	}
	if _, err := create("first", asked, metav1.CreateOptions{}); err != nil {
		t.Fatal("after a dry run:", err)
	}
	if _, err := create("second", asked, metav1.CreateOptions{}); !errors.IsInvalid(err) || !strings.Contains(err.Error(), "provided IP is already allocated") {
		t.Errorf("an address that is in use: %v", err)
	}
	seen := map[string]bool{asked: true, probe.Spec.ClusterIP: true}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		svc, err := create(name, "", metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if seen[svc.Spec.ClusterIP] {
			t.Errorf("%s was assigned twice", svc.Spec.ClusterIP)
		}
		seen[svc.Spec.ClusterIP] = true
	}
	if err := services.Delete(t.Context(), "first", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := create("second", asked, metav1.CreateOptions{}); err != nil {
		t.Error("the address of a deleted service:", err)
	}
	for _, name := range []string{"headless-a", "headless-b"} {
		if _, err := create(name, corev1.ClusterIPNone, metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	}
}

func TestClusterIPOfServerIsTaken(t *testing.T) {
	s := startWith(t, Options{HTTPS: "127.0.0.1:0", Anonymous: true, AllowLoopbackEndpoints: true, Publish: true})
	services := client(t, s.Config()).CoreV1().Services("default")
	server, err := services.Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "rival"},
		Spec: corev1.ServiceSpec{ClusterIP: server.Spec.ClusterIP, Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{})
	if !errors.IsInvalid(err) || !strings.Contains(err.Error(), "provided IP is already allocated") {
		t.Errorf("a second Service with the address %s: %v", server.Spec.ClusterIP, err)
	}
}

// A Service whose list of addresses contradicts its address is refused, not changed.
func TestClusterIPsMustMatch(t *testing.T) {
	services := client(t, start(t).Config()).CoreV1().Services("default")
	for want, spec := range map[string]corev1.ServiceSpec{
		"must be empty when `clusterIP` is not specified": {ClusterIPs: []string{"10.96.0.9"}},
		"first value must match `clusterIP`":              {ClusterIP: "10.96.0.8", ClusterIPs: []string{"10.96.0.9"}},
	} {
		spec.Ports = []corev1.ServicePort{{Port: 80}}
		_, err := services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: spec}, metav1.CreateOptions{})
		if !errors.IsInvalid(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
