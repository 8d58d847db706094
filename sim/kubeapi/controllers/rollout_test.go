package controllers_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// The life of a web application: it is created, restarted within the limits of its strategy, scaled to
// zero, and deleted with its namespace.
func TestRollout(t *testing.T) {
	const replicas, unavailable, surge = 8, 2, 2
	r := start(t, controllers.Options{
		Nodes: []string{"a", "b"}, Zone: func(node string) string { return "zone-" + node },
		ReadyAfter: 5 * time.Millisecond, StopAfter: 5 * time.Millisecond,
	})
	must(r.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}))(r)
	must(r.kube.CoreV1().Services("shop").Create(t.Context(), webService(), metav1.CreateOptions{}))(r)
	must(r.kube.AppsV1().Deployments("shop").Create(t.Context(), web(replicas), metav1.CreateOptions{}))(r)
	readyEndpoints(r, replicas)
	settled(r, 1)

	first := r.pods()
	watcher := must(r.kube.CoreV1().Pods("shop").Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion}))(r)
	must(r.kube.AppsV1().Deployments("shop").Patch(t.Context(), "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"now"}}}}}`), metav1.PatchOptions{}))(r)
	settled(r, 2)
	readyEndpoints(r, replicas)

	last := r.pods()
	ready, there := followed(r, watcher, first, last)
	if ready < replicas-unavailable {
		t.Errorf("only %d pods were ready at some moment, but only %d of %d may be missing", ready, unavailable, replicas)
	}
	if there > replicas+surge {
		t.Errorf("there were %d pods at some moment, but only %d more than %d are allowed", there, surge, replicas)
	}
	old := map[types.UID]bool{}
	for _, pod := range first.Items {
		old[pod.UID] = true
	}
	for _, pod := range last.Items {
		if old[pod.UID] {
			t.Errorf("pod %s survived the restart", pod.Name)
		}
	}

	must(r.kube.AppsV1().Deployments("shop").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":0}}`), metav1.PatchOptions{}))(r)
	until(r, "no pods", r.watch("pods", "shop"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
	readyEndpoints(r, 0)

	if err := r.kube.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "no namespace", r.watch("namespaces", ""), func(namespaces map[string]*corev1.Namespace) bool { return namespaces["/shop"] == nil })
	if _, err := r.kube.AppsV1().Deployments("shop").Get(t.Context(), "web", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("the deployment still exists: %v", err)
	}
}

func (r rig) pods() *corev1.PodList {
	return must(r.kube.CoreV1().Pods("shop").List(r.Context(), metav1.ListOptions{}))(r)
}

// readyEndpoints waits for this number of ready endpoints, and checks their content.
func readyEndpoints(r rig, want int) {
	r.Helper()
	until(r, fmt.Sprint(want, " ready endpoints"), r.watch("endpointslices", "shop"), func(all map[string]*discoveryv1.EndpointSlice) bool {
		n := 0
		for _, slice := range all {
			for _, e := range slice.Endpoints {
				if *e.Conditions.Ready {
					n++
					if e.NodeName == nil || e.Zone == nil || *e.Zone != "zone-"+*e.NodeName || *slice.Ports[0].Port != 8080 || *slice.Ports[0].Name != "http" {
						r.Errorf("endpoint %+v, ports %+v", e, slice.Ports)
					}
				}
			}
		}
		return n == want
	})
}

// settled waits for the end of a rollout, as kubectl rollout status does.
func settled(r rig, revision int) {
	r.Helper()
	until(r, fmt.Sprint("revision ", revision), r.watch("deployments", "shop"), func(all map[string]*appsv1.Deployment) bool {
		d := all["shop/web"]
		return d != nil && d.Annotations["deployment.kubernetes.io/revision"] == fmt.Sprint(revision) && d.Status.ObservedGeneration == d.Generation &&
			d.Status.UpdatedReplicas == *d.Spec.Replicas && d.Status.Replicas == *d.Spec.Replicas && d.Status.AvailableReplicas == *d.Spec.Replicas
	})
}

// followed returns the lowest number of ready pods and the highest number of all pods, without
// terminating ones, at any moment between two lists.
func followed(r rig, w watch.Interface, from, to *corev1.PodList) (ready, there int) {
	r.Helper()
	defer w.Stop()
	pods := map[types.UID]bool{} // whether each pod is ready, without terminating pods
	for _, pod := range from.Items {
		pods[pod.UID] = isReady(&pod)
	}
	ready = len(pods)
	for e := range w.ResultChan() {
		pod, ok := e.Object.(*corev1.Pod)
		if !ok {
			r.Fatalf("the watch failed: %v", e.Object)
		}
		if e.Type == watch.Deleted || pod.DeletionTimestamp != nil {
			delete(pods, pod.UID)
		} else {
			pods[pod.UID] = isReady(pod)
		}
		n := 0
		for _, is := range pods {
			if is {
				n++
			}
		}
		ready, there = min(ready, n), max(there, len(pods))
		if same(pods, to) {
			return ready, there
		}
	}
	r.Fatal("the watch ended early")
	return 0, 0
}

func same(pods map[types.UID]bool, want *corev1.PodList) bool {
	for _, pod := range want.Items {
		if _, ok := pods[pod.UID]; !ok {
			return false
		}
	}
	return len(pods) == len(want.Items)
}
