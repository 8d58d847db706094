package controllers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// addresses writes the addresses of Endpoints with the state and the port of each.
func addresses(e *corev1.Endpoints) string {
	var all []string
	for _, subset := range e.Subsets {
		for _, a := range subset.Addresses {
			all = append(all, fmt.Sprintf("%s %s:%d", a.TargetRef.Name, a.IP, subset.Ports[0].Port))
		}
		for _, a := range subset.NotReadyAddresses {
			all = append(all, fmt.Sprintf("%s %s:%d not ready", a.TargetRef.Name, a.IP, subset.Ports[0].Port))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

func TestEndpointsFollowTheSlices(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice", "endpoints")
	must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	r.serve("ready", "10.1.0.1", 8080, corev1.ConditionTrue)
	r.serve("not", "10.1.0.2", 8080, corev1.ConditionFalse)
	r.serve("other", "10.1.0.3", 9090, corev1.ConditionTrue)
	r.serve("ending", "10.1.0.4", 8080, corev1.ConditionTrue)
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "ending", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	const want = "not 10.1.0.2:8080 not ready, other 10.1.0.3:9090, ready 10.1.0.1:8080"
	e := one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool { return addresses(e) == want })
	if e.Labels["endpoints.kubernetes.io/managed-by"] != "endpoint-controller" || e.Labels["tier"] != "front" || len(e.OwnerReferences) != 0 {
		t.Errorf("metadata: %+v", e.ObjectMeta)
	}
	if port := e.Subsets[0].Ports[0]; port.Name != "http" || port.Protocol != corev1.ProtocolTCP {
		t.Errorf("port %+v", port)
	}
	if _, headless := e.Labels[corev1.IsHeadlessService]; headless {
		t.Error("a service with an address has the label of headless ones")
	}

	// With its unready addresses published, the service has all of them.
	must(r.kube.CoreV1().Services("default").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"publishNotReadyAddresses":true}}`), metav1.PatchOptions{}))(r)
	one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool {
		return addresses(e) == "ending 10.1.0.4:8080, not 10.1.0.2:8080, other 10.1.0.3:9090, ready 10.1.0.1:8080"
	})

	if err := r.kube.CoreV1().Services("default").Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "no endpoints", r.watch("endpoints", "default"), func(all map[string]*corev1.Endpoints) bool { return all["default/web"] == nil })
}

// The annotation says when the pods of the latest change became ready. It is gone after a change
// that only removes addresses.
func TestEndpointsSayWhenThePodsChanged(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice", "endpoints")
	must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	r.serve("a", "10.1.0.1", 8080, corev1.ConditionTrue)
	one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool { return addresses(e) == "a 10.1.0.1:8080" })
	b := r.serve("b", "10.1.0.2", 8080, corev1.ConditionTrue)
	e := one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool { return strings.Contains(addresses(e), "b ") })
	if got, want := e.Annotations[corev1.EndpointsLastChangeTriggerTime], b.Status.Conditions[0].LastTransitionTime.UTC().Format(time.RFC3339Nano); got != want {
		t.Errorf("changed at %q, want %q", got, want)
	}
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "b", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e = one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool { return addresses(e) == "a 10.1.0.1:8080" })
	if at, ok := e.Annotations[corev1.EndpointsLastChangeTriggerTime]; ok {
		t.Errorf("changed at %q after a removal", at)
	}
}

func TestEndpointsOfHeadlessServices(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice", "endpoints")
	svc := webService()
	svc.Spec.ClusterIP, svc.Spec.Ports = corev1.ClusterIPNone, nil
	must(r.kube.CoreV1().Services("default").Create(t.Context(), svc, metav1.CreateOptions{}))(r)
	r.serve("a", "10.1.0.1", 8080, corev1.ConditionTrue)
	e := one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool { return len(e.Subsets) == 1 })
	if _, headless := e.Labels[corev1.IsHeadlessService]; !headless || e.Subsets[0].Addresses[0].IP != "10.1.0.1" || len(e.Subsets[0].Ports) != 0 {
		t.Errorf("endpoints %+v", e)
	}
}

// Endpoints hold 1,000 addresses at most. Those that are not ready are left out first.
func TestEndpointsAreTruncated(t *testing.T) {
	r := start(t, controllers.Options{}, "endpoints")
	svc := webService()
	must(r.kube.CoreV1().Services("default").Create(t.Context(), svc, metav1.CreateOptions{}))(r)
	for i, port := range []int32{8080, 9090} {
		slice := &discoveryv1.EndpointSlice{AddressType: discoveryv1.AddressTypeIPv4, ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("web-", port), Labels: map[string]string{
			"kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}},
			Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: &port}}}
		for n := range 600 {
			slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{fmt.Sprintf("10.%d.%d.%d", i+1, n/250, n%250+1)},
				Conditions: discoveryv1.EndpointConditions{Ready: new(n >= 150)}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: fmt.Sprint("p", i, n)}})
		}
		must(r.kube.DiscoveryV1().EndpointSlices("default").Create(t.Context(), slice, metav1.CreateOptions{}))(r)
	}
	e := one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool {
		return e.Annotations["endpoints.kubernetes.io/over-capacity"] == "truncated"
	})
	for _, subset := range e.Subsets {
		if len(subset.Addresses) != 450 || len(subset.NotReadyAddresses) != 50 {
			t.Errorf("%d ready addresses and %d others", len(subset.Addresses), len(subset.NotReadyAddresses))
		}
	}
	if err := r.kube.DiscoveryV1().EndpointSlices("default").Delete(t.Context(), "web-9090", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	e = one(r, "endpoints", "default", "web", func(e *corev1.Endpoints) bool { return len(e.Subsets) == 1 })
	if _, over := e.Annotations["endpoints.kubernetes.io/over-capacity"]; over || len(e.Subsets[0].Addresses) != 450 || len(e.Subsets[0].NotReadyAddresses) != 150 {
		t.Errorf("after the other slice was deleted: %d addresses, %d not ready, %v", len(e.Subsets[0].Addresses), len(e.Subsets[0].NotReadyAddresses), e.Annotations)
	}
}

// Services without a selector keep the Endpoints that a user wrote.
func TestEndpointsOfUsersStay(t *testing.T) {
	r := start(t, controllers.Options{}, "endpointslice", "endpoints")
	manual := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "manual"}, Subsets: []corev1.EndpointSubset{{Addresses: []corev1.EndpointAddress{{IP: "10.2.0.1"}}}}}
	must(r.kube.CoreV1().Endpoints("default").Create(t.Context(), manual, metav1.CreateOptions{}))(r)
	svc := webService()
	svc.Name, svc.Spec.Selector = "manual", nil
	must(r.kube.CoreV1().Services("default").Create(t.Context(), svc, metav1.CreateOptions{}))(r)
	must(r.kube.CoreV1().Services("default").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	one(r, "endpoints", "default", "web", func(*corev1.Endpoints) bool { return true })
	if e := must(r.kube.CoreV1().Endpoints("default").Get(t.Context(), "manual", metav1.GetOptions{}))(r); len(e.Subsets) != 1 || len(e.Labels) != 0 {
		t.Errorf("the user's endpoints became %+v", e)
	}
}
