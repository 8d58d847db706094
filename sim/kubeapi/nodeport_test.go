package kubeapi

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodePortService returns a Service that asks for a node port; 0 is any.
func nodePortService(name string, port int32) *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80, NodePort: port}}}}
}

func TestNodePortsAreUnique(t *testing.T) {
	s := start(t)
	services := client(t, s.Config()).CoreV1().Services("default")
	first, err := services.Create(t.Context(), nodePortService("first", 0), metav1.CreateOptions{})
	check(t, err)
	port := first.Spec.Ports[0].NodePort
	if port < 30000 || port > 32767 {
		t.Fatalf("node port %d", port)
	}
	refused := func(err error, want string) {
		t.Helper()
		if !errors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.ports[0].nodePort: Invalid value: "+want) {
			t.Errorf("want a refusal with %q, got %v", want, err)
		}
	}
	_, err = services.Create(t.Context(), nodePortService("same", port), metav1.CreateOptions{})
	refused(err, fmt.Sprintf("%d: provided port is already allocated", port))
	_, err = s.Writer().Create(nodePortService("same", port))
	refused(err, fmt.Sprintf("%d: provided port is already allocated", port))
	_, err = services.Create(t.Context(), nodePortService("low", 80), metav1.CreateOptions{})
	refused(err, "80: provided port is not in the valid range. The range of valid ports is 30000-32767")
	second, err := services.Create(t.Context(), nodePortService("second", 0), metav1.CreateOptions{})
	check(t, err)
	second.Spec.Ports[0].NodePort = port
	_, err = services.Update(t.Context(), second, metav1.UpdateOptions{})
	refused(err, fmt.Sprintf("%d: provided port is already allocated", port))
	first.Spec.Type = corev1.ServiceTypeClusterIP
	first, err = services.Update(t.Context(), first, metav1.UpdateOptions{})
	check(t, err)
	if first.Spec.Ports[0].NodePort != 0 {
		t.Errorf("a Service of type ClusterIP keeps node port %d", first.Spec.Ports[0].NodePort)
	}
	_, err = services.Update(t.Context(), second, metav1.UpdateOptions{})
	check(t, err)
}

// Creations in parallel get different ports, and even the last port of the range is assigned.
func TestNodePortsOfManyServices(t *testing.T) {
	t.Parallel()
	const all = 32767 - 30000 + 1
	s := start(t)
	var workers sync.WaitGroup
	seen := map[int32]bool{}
	for w := range 4 {
		workers.Go(func() {
			for i := range all / 4 {
				svc := nodePortService(fmt.Sprintf("s-%d-%d", w, i), 0)
				if _, err := s.Writer().Create(svc); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	list, err := client(t, s.Config()).CoreV1().Services("default").List(t.Context(), metav1.ListOptions{})
	check(t, err)
	for _, svc := range list.Items {
		port := svc.Spec.Ports[0].NodePort
		if seen[port] {
			t.Errorf("node port %d was assigned twice", port)
		}
		seen[port] = true
	}
	if len(seen) != all {
		t.Errorf("%d of %d ports were assigned", len(seen), all)
	}
	if _, err := s.Writer().Create(nodePortService("late", 0)); err == nil || !strings.Contains(err.Error(), "failed to allocate a nodePort: range is full") {
		t.Errorf("with all ports taken: %v", err)
	}
	check(t, func() error { _, err := s.Writer().Delete(&list.Items[0]); return err }())
	check(t, func() error { _, err := s.Writer().Create(nodePortService("late", 0)); return err }())
}

// A load balancer that preserves client addresses must find the nodes with endpoints.
func TestHealthCheckNodePort(t *testing.T) {
	services := client(t, start(t).Config()).CoreV1().Services("default")
	svc := nodePortService("web", 0)
	svc.Spec.Type, svc.Spec.ExternalTrafficPolicy = corev1.ServiceTypeLoadBalancer, corev1.ServiceExternalTrafficPolicyLocal
	svc, err := services.Create(t.Context(), svc, metav1.CreateOptions{})
	check(t, err)
	health := svc.Spec.HealthCheckNodePort
	if health == 0 || health == svc.Spec.Ports[0].NodePort {
		t.Errorf("health check node port %d, node port %d", health, svc.Spec.Ports[0].NodePort)
	}
	if _, err := services.Create(t.Context(), nodePortService("other", health), metav1.CreateOptions{}); !errors.IsInvalid(err) {
		t.Errorf("a node port that is used for health checks: %v", err)
	}
	svc.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyCluster
	svc, err = services.Update(t.Context(), svc, metav1.UpdateOptions{})
	check(t, err)
	if svc.Spec.HealthCheckNodePort != 0 {
		t.Errorf("keeps health check node port %d", svc.Spec.HealthCheckNodePort)
	}
	_, err = services.Create(t.Context(), nodePortService("other", health), metav1.CreateOptions{})
	check(t, err)
}
