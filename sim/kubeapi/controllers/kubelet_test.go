package controllers_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/kubeapi/controllers"
)

func onePod(name string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
}

func (r rig) runs(name string) *corev1.Pod {
	r.Helper()
	must(r.kube.CoreV1().Pods("default").Create(r.Context(), onePod(name), metav1.CreateOptions{}))(r)
	var found *corev1.Pod
	until(r, "a ready pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		found = pods["default/"+name]
		return found != nil && isReady(found)
	})
	return found
}

func TestPodsRunWithAssignedAddresses(t *testing.T) {
	r := start(t, controllers.Options{Address: func(pod *corev1.Pod) (string, error) { return "127.1.2.3", nil }}, "scheduler", "kubelet")
	pod := r.runs("one")
	if pod.Status.PodIP != "127.1.2.3" || pod.Status.Phase != corev1.PodRunning || pod.Spec.NodeName != "windtunnel" || len(pod.Status.ContainerStatuses) != 1 {
		t.Errorf("pod on node %q: %+v", pod.Spec.NodeName, pod.Status)
	}
}

// A deleted pod stays, terminating, until the callback reports that it has stopped.
func TestDeletedPodsStayUntilTheyHaveStopped(t *testing.T) {
	stop := make(chan struct{})
	r := start(t, controllers.Options{Stop: func(ctx context.Context, _ *corev1.Pod) {
		if deadline, ok := ctx.Deadline(); !ok || time.Until(deadline) > 31*time.Second {
			t.Errorf("the grace period ends %v", deadline)
		}
		<-stop
	}}, "scheduler", "kubelet")
	pod := r.runs("one")
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	left := must(r.kube.CoreV1().Pods("default").Get(t.Context(), "one", metav1.GetOptions{}))(r)
	if left.UID != pod.UID || left.DeletionTimestamp == nil || *left.DeletionGracePeriodSeconds != 30 {
		t.Errorf("deleted: %+v", left.ObjectMeta)
	}
	close(stop)
	until(r, "no pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
}

// A second deletion may shorten the grace period; a grace period of zero ends the pod.
func TestGracePeriodCanOnlyShrink(t *testing.T) {
	r := start(t, controllers.Options{StopAfter: time.Hour}, "scheduler", "kubelet")
	generation := r.runs("one").Generation + 1 // includes the first deletion
	pods := r.kube.CoreV1().Pods("default")
	for _, step := range []struct{ ask, want int64 }{{1000, 1000}, {500, 500}, {800, 500}} {
		if err := pods.Delete(t.Context(), "one", metav1.DeleteOptions{GracePeriodSeconds: &step.ask}); err != nil {
			t.Fatal(err)
		}
		pod := must(pods.Get(t.Context(), "one", metav1.GetOptions{}))(r)
		if *pod.DeletionGracePeriodSeconds != step.want || pod.Generation != generation {
			t.Errorf("requested grace period %d: %+v", step.ask, pod.ObjectMeta)
		}
	}
	if err := pods.Delete(t.Context(), "one", *metav1.NewDeleteOptions(0)); err != nil {
		t.Fatal(err)
	}
	until(r, "no pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
}

// A pod that stops too slowly is removed when its grace period ends.
func TestGracePeriodEnds(t *testing.T) {
	r := start(t, controllers.Options{StopAfter: time.Hour}, "scheduler", "kubelet")
	r.runs("one")
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "one", *metav1.NewDeleteOptions(1)); err != nil {
		t.Fatal(err)
	}
	until(r, "no pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool { return len(pods) == 0 })
}

// A pod without a node is removed at once.
func TestUnscheduledPodsAreDeletedAtOnce(t *testing.T) {
	r := start(t, controllers.Options{}, "namespace")
	must(r.kube.CoreV1().Pods("default").Create(t.Context(), onePod("one"), metav1.CreateOptions{}))(r)
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if pods := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r); len(pods.Items) != 0 {
		t.Errorf("pods remain: %v", pods.Items)
	}
}

func TestPodsSpreadOverNodes(t *testing.T) {
	r := start(t, controllers.Options{Nodes: []string{"a", "b"}}, "scheduler", "kubelet")
	for i := range 4 {
		must(r.kube.CoreV1().Pods("default").Create(t.Context(), onePod(fmt.Sprint("p", i)), metav1.CreateOptions{}))(r)
	}
	until(r, "two pods per node", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		count := map[string]int{}
		for _, pod := range pods {
			count[pod.Spec.NodeName]++
		}
		return count["a"] == 2 && count["b"] == 2
	})
}

// A pod waits for a node that matches its node selector, and an event says so.
func TestPodsWaitForASuitableNode(t *testing.T) {
	r := start(t, controllers.Options{Nodes: []string{"a", "b"}}, "scheduler", "kubelet")
	pod := onePod("picky")
	pod.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	must(r.kube.CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}))(r)
	r.event("FailedScheduling")
	r.patchNode("b", `{"metadata":{"labels":{"disk":"ssd"}}}`)
	one(r, "pods", "default", "picky", func(pod *corev1.Pod) bool { return pod.Spec.NodeName == "b" && isReady(pod) })
}

// ReadyAfter is exact, although the times in the API are whole seconds.
func TestPodsBecomeReadyAfterTheirTime(t *testing.T) {
	const after = 900 * time.Millisecond
	r := start(t, controllers.Options{ReadyAfter: after}, "scheduler", "kubelet")
	created := time.Now()
	r.runs("one")
	if took := time.Since(created); took < after {
		t.Errorf("the pod is ready after %v, want at least %v", took, after)
	}
}

// A client may replace the conditions of a pod. The pod becomes ready again.
func TestPodsSurviveTheLossOfTheirConditions(t *testing.T) {
	r := start(t, controllers.Options{}, "scheduler", "kubelet")
	r.runs("one")
	must(r.kube.CoreV1().Pods("default").Patch(t.Context(), "one", types.MergePatchType,
		[]byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`), metav1.PatchOptions{}, "status"))(r)
	one(r, "pods", "default", "one", isReady)
}

func TestPodsHaveTheAddressOfTheirNode(t *testing.T) {
	r := start(t, controllers.Options{Nodes: []string{"a", "b"}}, "scheduler", "kubelet")
	for _, name := range []string{"one", "two"} {
		pod := r.runs(name)
		node := must(r.kube.CoreV1().Nodes().Get(t.Context(), pod.Spec.NodeName, metav1.GetOptions{}))(r)
		if want := node.Status.Addresses[0].Address; pod.Status.HostIP != want || len(pod.Status.HostIPs) != 1 || pod.Status.HostIPs[0].IP != want {
			t.Errorf("a pod on node %s has the host addresses %q and %v, want %s", node.Name, pod.Status.HostIP, pod.Status.HostIPs, want)
		}
	}
}

// A pod with scheduling gates gets no node.
func TestGatedPodsAreNotScheduled(t *testing.T) {
	r := start(t, controllers.Options{}, "scheduler", "kubelet")
	gated := onePod("gated")
	gated.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/wait"}}
	must(r.kube.CoreV1().Pods("default").Create(t.Context(), gated, metav1.CreateOptions{}))(r)
	r.runs("free")
	if pod := must(r.kube.CoreV1().Pods("default").Get(t.Context(), "gated", metav1.GetOptions{}))(r); pod.Spec.NodeName != "" {
		t.Errorf("the gated pod is on node %s", pod.Spec.NodeName)
	}
	must(r.kube.CoreV1().Pods("default").Patch(t.Context(), "gated", types.MergePatchType, []byte(`{"spec":{"schedulingGates":null}}`), metav1.PatchOptions{}))(r)
	one(r, "pods", "default", "gated", isReady)
}
