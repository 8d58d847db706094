package kubeapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

const rangeIsFull = "failed to allocate a nodePort: range is full"

// takeNodePorts creates Services with all node ports other than those in free.
func takeNodePorts(t *testing.T, w Writer, free ...int32) {
	t.Helper()
	var changes []Change
	for port := int32(30000); port <= 32767; port++ {
		if !slices.Contains(free, port) {
			changes = append(changes, Change{Kind: watch.Added, Object: nodePortService(fmt.Sprint("taken-", port), port)})
		}
	}
	_, err := w.Apply(changes)
	check(t, err)
}

// onCreate calls f while a webhook reviews the creation of a Service over HTTP, before it is stored.
func onCreate(t *testing.T, s *Server, f func()) {
	t.Helper()
	hook := newHookServer(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		f()
		return &admissionv1.AdmissionResponse{Allowed: true}
	})
	hook.install(t, client(t, s.Config()), hookRule("CREATE", "", "services"), func(w *admissionregistrationv1.ValidatingWebhook) {
		w.TimeoutSeconds = new(int32(30))
	})
}

// Creations in parallel share the few free ports: each port is assigned once, and none is lost.
func TestFewFreeNodePorts(t *testing.T) {
	t.Parallel()
	const writers = 8
	s := start(t)
	w := s.Writer()
	free := []int32{30001, 30085, 30086, 31000, 32767}
	takeNodePorts(t, w, free...)
	services := client(t, s.Config()).CoreV1().Services("default")
	for range 5 {
		var mu sync.Mutex
		var made []*corev1.Service
		var creating sync.WaitGroup
		for i := range writers {
			creating.Go(func() {
				svc := nodePortService(fmt.Sprint("s-", i), 0)
				var err error
				if i%2 == 0 {
					_, err = services.Create(t.Context(), svc, metav1.CreateOptions{})
				} else {
					_, err = w.Create(svc)
				}
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					made = append(made, svc)
				} else if !strings.Contains(err.Error(), rangeIsFull) {
					t.Error(err)
				}
			})
		}
		creating.Wait()
		var got []int32
		for _, svc := range made {
			now, err := services.Get(t.Context(), svc.Name, metav1.GetOptions{})
			check(t, err)
			got = append(got, now.Spec.Ports[0].NodePort)
			_, err = w.Delete(svc)
			check(t, err)
		}
		if slices.Sort(got); !slices.Equal(got, free) {
			t.Fatalf("assigned %v, want %v", got, free)
		}
	}
}

// A port belongs to a Service from the moment it is chosen, even if the Service is stored much later.
func TestNodePortIsHeldUntilStored(t *testing.T) {
	t.Parallel()
	s := start(t)
	w := s.Writer()
	takeNodePorts(t, w, 31000)
	var chosen, asked error
	onCreate(t, s, func() {
		_, chosen = w.Create(nodePortService("chosen", 0))
		_, asked = w.Create(nodePortService("asked", 31000))
	})
	svc, err := client(t, s.Config()).CoreV1().Services("default").Create(t.Context(), nodePortService("web", 0), metav1.CreateOptions{})
	check(t, err)
	if port := svc.Spec.Ports[0].NodePort; port != 31000 {
		t.Errorf("node port %d", port)
	}
	if chosen == nil || !strings.Contains(chosen.Error(), rangeIsFull) {
		t.Errorf("another Service without a port: %v", chosen)
	}
	if asked == nil || !strings.Contains(asked.Error(), "31000: provided port is already allocated") {
		t.Errorf("another Service with the port: %v", asked)
	}
}

// A refused creation and a dry run leave their port to others; a dry run does so from the beginning.
func TestNodePortIsNotHeldInVain(t *testing.T) {
	t.Parallel()
	s := start(t)
	w := s.Writer()
	takeNodePorts(t, w, 31000)
	services := client(t, s.Config()).CoreV1().Services("default")
	bad := nodePortService("bad", 0)
	bad.Spec.Ports[0].Protocol = "none"
	if _, err := w.Create(bad); err == nil {
		t.Error("a wrong protocol is accepted")
	}
	var during error
	onCreate(t, s, func() {
		_, during = w.Create(nodePortService("during", 0))
	})
	for _, port := range []int32{0, 31000} {
		services.Create(t.Context(), nodePortService("dry", port), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}) // it loses its port meanwhile
		if during != nil {
			t.Errorf("a creation during a dry run with port %d: %v", port, during)
		}
		_, err := w.Delete(nodePortService("during", 0))
		check(t, err)
	}
	_, err := w.Create(nodePortService("after", 31000))
	check(t, err)
}

// One batch of changes cannot give a port to two Services, and its changes take effect in order.
func TestNodePortsInOneBatch(t *testing.T) {
	t.Parallel()
	w := start(t).Writer()
	_, err := w.Create(nodePortService("old", 30500))
	check(t, err)
	versions, err := w.Apply([]Change{
		{Kind: watch.Deleted, Object: nodePortService("old", 0)},
		{Kind: watch.Added, Object: nodePortService("new", 30500)},
		{Kind: watch.Added, Object: nodePortService("late", 30500)},
	})
	if err == nil || !strings.Contains(err.Error(), "30500: provided port is already allocated") {
		t.Errorf("error %v", err)
	}
	if versions[0] == 0 || versions[1] == 0 || versions[2] != 0 {
		t.Errorf("versions %v, want only the last creation to fail", versions)
	}
}

// However often ports are assigned, low ports are left to users while others are free.
func TestNodePortsAreReused(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, services := s.Writer(), client(t, s.Config()).CoreV1().Services("default")
	portOf := func(name string) int32 {
		svc, err := services.Get(t.Context(), name, metav1.GetOptions{})
		check(t, err)
		return svc.Spec.Ports[0].NodePort
	}
	_, err := w.Create(nodePortService("keep", 0))
	check(t, err)
	held := portOf("keep")
	for i := range 3000 {
		_, err := w.Create(nodePortService("web", 0))
		check(t, err)
		if i > 2600 {
			if port := portOf("web"); port < 30086 || port == held {
				t.Fatalf("assignment %d is node port %d; %d is in use", i+1, port, held)
			}
		}
		_, err = w.Delete(nodePortService("web", 0))
		check(t, err)
	}
}

// A new port of a Service differs from its other ports, even if few node ports are free.
func TestNodePortsOfOneService(t *testing.T) {
	t.Parallel()
	s := start(t)
	w := s.Writer()
	takeNodePorts(t, w, 31000, 31001)
	web := nodePortService("web", 0)
	web.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}, {Name: "https", Port: 443, NodePort: 31000}}
	_, err := w.Create(web)
	check(t, err)
	now, err := client(t, s.Config()).CoreV1().Services("default").Get(t.Context(), "web", metav1.GetOptions{})
	check(t, err)
	if port := now.Spec.Ports[0].NodePort; port != 31001 {
		t.Errorf("node port %d", port)
	}
	web.Spec.Ports = append(web.Spec.Ports, corev1.ServicePort{Name: "metrics", Port: 90})
	if _, err := w.Update(web); err == nil || !strings.Contains(err.Error(), rangeIsFull) {
		t.Errorf("with all ports taken: %v", err)
	}
}

// An update to a type without node ports frees them, whichever port is free next.
func TestClusterIPFreesNodePort(t *testing.T) {
	t.Parallel()
	s := start(t)
	w, services := s.Writer(), client(t, s.Config()).CoreV1().Services("default")
	takeNodePorts(t, w)
	svc, err := services.Get(t.Context(), "taken-31000", metav1.GetOptions{})
	check(t, err)
	svc.Spec.Type = corev1.ServiceTypeClusterIP
	_, err = services.Update(t.Context(), svc, metav1.UpdateOptions{})
	check(t, err)
	_, err = services.Create(t.Context(), nodePortService("web", 0), metav1.CreateOptions{})
	check(t, err)
	if now, err := services.Get(t.Context(), "web", metav1.GetOptions{}); err != nil || now.Spec.Ports[0].NodePort != 31000 {
		t.Errorf("%v, %v", now, err)
	}
}
