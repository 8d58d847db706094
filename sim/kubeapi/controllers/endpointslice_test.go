package controllers_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// serve creates a pod with an address, as an endpoint of the service web. It has been ready, or not,
// for the whole test.
func (r rig) serve(name, address string, port int32, ready corev1.ConditionStatus) *corev1.Pod {
	r.Helper()
	pod := onePod(name)
	pod.Labels = map[string]string{"app": "web"}
	pod.Spec.NodeName = "elsewhere"
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: port}}
	pod = must(r.kube.CoreV1().Pods("default").Create(r.Context(), pod, metav1.CreateOptions{}))(r)
	pod.Status.PodIP, pod.Status.PodIPs = address, []corev1.PodIP{{IP: address}}
	pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()}}
	return must(r.kube.CoreV1().Pods("default").UpdateStatus(r.Context(), pod, metav1.UpdateOptions{}))(r)
}

func count(slices map[string]*discoveryv1.EndpointSlice) (endpoints int) {
	for _, slice := range slices {
		endpoints += len(slice.Endpoints)
	}
	return endpoints
}

func TestSlicesReportPodConditions(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice")
	svc := must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	r.serve("ready", "10.1.0.1", 8080, corev1.ConditionTrue)
	r.serve("not", "10.1.0.2", 8080, corev1.ConditionFalse)
	r.serve("other", "10.1.0.3", 9090, corev1.ConditionTrue)
	r.serve("ending", "10.1.0.4", 8080, corev1.ConditionTrue)
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "ending", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var slices map[string]*discoveryv1.EndpointSlice
	until(r, "four endpoints, one ending", r.watch("endpointslices", "default"), func(all map[string]*discoveryv1.EndpointSlice) bool {
		slices = all
		ending := 0
		for _, slice := range all {
			for _, e := range slice.Endpoints {
				if *e.Conditions.Terminating {
					ending++
				}
			}
		}
		return count(all) == 4 && ending == 1 && len(all) == 2 // one slice for each number of the port
	})
	want := map[string]string{"ready": "10.1.0.1:8080 true true false", "not": "10.1.0.2:8080 false false false",
		"other": "10.1.0.3:9090 true true false", "ending": "10.1.0.4:8080 false true true"}
	for _, slice := range slices {
		if slice.Labels["kubernetes.io/service-name"] != "web" || slice.Labels["endpointslice.kubernetes.io/managed-by"] != "endpointslice-controller.k8s.io" ||
			slice.Labels["tier"] != "front" || len(slice.OwnerReferences) != 1 || slice.OwnerReferences[0].UID != svc.UID {
			t.Errorf("metadata %+v", slice.ObjectMeta)
		}
		for _, e := range slice.Endpoints {
			got := fmt.Sprintf("%s:%d %t %t %t", e.Addresses[0], *slice.Ports[0].Port, *e.Conditions.Ready, *e.Conditions.Serving, *e.Conditions.Terminating)
			if got != want[e.TargetRef.Name] || *e.NodeName != "elsewhere" {
				t.Errorf("pod %s: %s, want %s", e.TargetRef.Name, got, want[e.TargetRef.Name])
			}
		}
	}
}

// A slice has 100 endpoints; endpoints that stay do not move; slices of other managers do not
// change; all slices are deleted with the service.
func TestSlicesAreFilledAndDeleted(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice")
	foreign := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4, ObjectMeta: metav1.ObjectMeta{Name: "foreign",
		Labels: map[string]string{"kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "somebody"}}}
	must(r.kube.DiscoveryV1().EndpointSlices("default").Create(t.Context(), foreign, metav1.CreateOptions{}))(r)
	for i := range 150 {
		r.serve(fmt.Sprintf("p%03d", i), fmt.Sprintf("10.1.1.%d", i), 80, corev1.ConditionTrue)
	}
	must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	in := map[string]string{}
	until(r, "150 endpoints", r.watch("endpointslices", "default"), func(all map[string]*discoveryv1.EndpointSlice) bool {
		for name, slice := range all {
			if len(slice.Endpoints) > 100 {
				t.Errorf("%s has %d endpoints", name, len(slice.Endpoints))
			}
			for _, e := range slice.Endpoints {
				in[e.TargetRef.Name] = name
			}
		}
		return count(all) == 150 && len(all) == 3
	})
	for _, name := range []string{"p000", "p149"} {
		if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), name, *metav1.NewDeleteOptions(0)); err != nil {
			t.Fatal(err)
		}
	}
	until(r, "148 endpoints", r.watch("endpointslices", "default"), func(all map[string]*discoveryv1.EndpointSlice) bool {
		for name, slice := range all {
			for _, e := range slice.Endpoints {
				if in[e.TargetRef.Name] != name {
					t.Errorf("endpoint %s moved from slice %s to %s", e.TargetRef.Name, in[e.TargetRef.Name], name)
				}
			}
		}
		return count(all) == 148
	})
	if err := r.kube.CoreV1().Services("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "the foreign slice only", r.watch("endpointslices", "default"), func(all map[string]*discoveryv1.EndpointSlice) bool {
		return len(all) == 1 && all["default/foreign"] != nil
	})
}

// A named target port may belong to a sidecar, which is an init container that runs on.
func TestNamedPortsOfSidecars(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice", "scheduler", "kubelet")
	must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	pod := onePod("one")
	pod.Labels = map[string]string{"app": "web"}
	http := func(port int32) []corev1.ContainerPort {
		return []corev1.ContainerPort{{Name: "http", ContainerPort: port}}
	}
	pod.Spec.InitContainers = []corev1.Container{{Name: "setup", Image: "i", Ports: http(1)},
		{Name: "proxy", Image: "i", RestartPolicy: new(corev1.ContainerRestartPolicyAlways), Ports: http(15080)}}
	must(r.kube.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}))(r)
	until(r, "an endpoint", r.watch("endpointslices", "default"), func(all map[string]*discoveryv1.EndpointSlice) bool {
		for _, slice := range all {
			if len(slice.Endpoints) == 1 {
				if len(slice.Ports) != 1 || *slice.Ports[0].Port != 15080 {
					t.Errorf("ports %v", slice.Ports)
				}
				return true
			}
		}
		return false
	})
}

// A slice stays when a service gets its first endpoint, when its ports change, and when it loses its
// last endpoint.
func TestSlicesAreReused(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice")
	list := must(r.kube.DiscoveryV1().EndpointSlices("default").List(t.Context(), metav1.ListOptions{}))(r)
	events := must(r.kube.DiscoveryV1().EndpointSlices("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion}))(r)
	defer events.Stop()
	expect := func(want string) {
		t.Helper()
		e := <-events.ResultChan()
		if got := fmt.Sprintf("%s with %d endpoints", e.Type, len(e.Object.(*discoveryv1.EndpointSlice).Endpoints)); got != want {
			t.Fatalf("%s, want %s", got, want)
		}
	}
	must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	expect("ADDED with 0 endpoints")
	r.serve("one", "10.1.0.1", 8080, corev1.ConditionTrue)
	expect("MODIFIED with 1 endpoints")
	must(r.kube.CoreV1().Services("default").Patch(t.Context(), "web", types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/ports/0/targetPort","value":9090}]`), metav1.PatchOptions{}))(r)
	expect("MODIFIED with 1 endpoints")
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "one", *metav1.NewDeleteOptions(0)); err != nil {
		t.Fatal(err)
	}
	expect("MODIFIED with 0 endpoints")
}
