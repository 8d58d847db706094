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

// Free ports are reused however often ports were assigned; the low ones are left to users.
func TestNodePortsAreReused(t *testing.T) {
	t.Parallel()
	s := start(t)
	services := client(t, s.Config()).CoreV1().Services("default")
	keep, err := services.Create(t.Context(), nodePortService("keep", 0), metav1.CreateOptions{})
	check(t, err)
	held := keep.Spec.Ports[0].NodePort
	svc := nodePortService("web", 0)
	for i := range 3000 {
		_, err := s.Writer().Create(svc)
		check(t, err)
		if i > 2600 {
			now, err := services.Get(t.Context(), "web", metav1.GetOptions{})
			check(t, err)
			if port := now.Spec.Ports[0].NodePort; port < 30086 || port == held {
				t.Fatalf("assignment %d is node port %d; %d is in use", i+1, port, held)
			}
		}
		_, err = s.Writer().Delete(svc)
		check(t, err)
	}
}

// A new port of a Service differs from its other ports, even if few node ports are free.
func TestNodePortsOfOneService(t *testing.T) {
	t.Parallel()
	s := start(t)
	w := s.Writer()
	for port := int32(30000); port <= 32767; port++ {
		if port != 31000 && port != 31001 {
			_, err := w.Create(nodePortService(fmt.Sprint("s-", port), port))
			check(t, err)
		}
	}
	web := nodePortService("web", 31000)
	web.Spec.Ports[0].Name = "http"
	more := func(name string) {
		web.Spec.Ports = append(web.Spec.Ports, corev1.ServicePort{Name: name, Port: int32(80 + len(name))})
	}
	more("https")
	_, err := w.Create(web)
	check(t, err)
	now, err := client(t, s.Config()).CoreV1().Services("default").Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	if port := now.Spec.Ports[1].NodePort; port != 31001 {
		t.Errorf("node port %d", port)
	}
	more("metrics")
	if _, err := w.Update(web); err == nil || !strings.Contains(err.Error(), "failed to allocate a nodePort: range is full") {
		t.Errorf("with all ports taken: %v", err)
	}
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
