package controllers_test

import (
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/controllers"
)

func (r rig) image(name string) {
	r.Helper()
	must(r.kube.AppsV1().Deployments("default").Patch(r.Context(), "web", types.StrategicMergePatchType,
		[]byte(`{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"`+name+`"}]}}}}`), metav1.PatchOptions{}))(r)
}

func (r rig) available(image string) {
	r.Helper()
	until(r, "available", r.watch("deployments", "default"), func(all map[string]*appsv1.Deployment) bool {
		d := all["default/web"]
		return d != nil && d.Spec.Template.Spec.Containers[0].Image == image && d.Status.ObservedGeneration == d.Generation &&
			d.Status.UpdatedReplicas == *d.Spec.Replicas && d.Status.AvailableReplicas == *d.Spec.Replicas && d.Status.Replicas == *d.Spec.Replicas
	})
}

// With the Recreate strategy, pods of two templates never exist at the same time. Terminating pods
// still exist.
func TestRecreateEndsTheOldPodsFirst(t *testing.T) {
	r := start(t, controllers.Options{StopAfter: 50 * time.Millisecond})
	d := web(3)
	d.Spec.Strategy = appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}))(r)
	r.available("web:1")
	before := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	w := must(r.kube.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: before.ResourceVersion}))(r)
	defer w.Stop()
	r.image("web:2")
	old, new := len(before.Items), 0
	for e := range w.ResultChan() {
		pod := e.Object.(*corev1.Pod)
		switch first := pod.Spec.Containers[0].Image == "web:1"; {
		case first && e.Type == watch.Deleted:
			old--
		case !first && e.Type == watch.Added:
			new++
		}
		if new > 0 && old > 0 {
			t.Fatalf("%d new pods exist next to %d old ones", new, old)
		}
		if new == 3 {
			break
		}
	}
	r.available("web:2")
}

// A paused deployment does not roll out, and continues after it is resumed.
func TestPausedDeploymentsWait(t *testing.T) {
	r := start(t, controllers.Options{})
	d := web(2)
	d.Spec.Paused = true
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}))(r)
	until(r, "reported as paused", r.watch("deployments", "default"), func(all map[string]*appsv1.Deployment) bool {
		d := all["default/web"]
		return d != nil && d.Status.ObservedGeneration == d.Generation && reasonOf(d, appsv1.DeploymentProgressing) == "DeploymentPaused"
	})
	if sets := must(r.kube.AppsV1().ReplicaSets("default").List(t.Context(), metav1.ListOptions{}))(r); len(sets.Items) != 0 {
		t.Errorf("the deployment is paused, but has replica sets %v", sets.Items)
	}
	must(r.kube.AppsV1().Deployments("default").Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"paused":false}}`), metav1.PatchOptions{}))(r)
	r.available("web:1")
}

// A paused deployment without pods can be scaled.
func TestPausedDeploymentsScaleFromZero(t *testing.T) {
	r := start(t, controllers.Options{}, "deployment", "replicaset", "scheduler", "kubelet")
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), web(0), metav1.CreateOptions{}))(r)
	until(r, "a replica set", r.watch("replicasets", "default"), func(all map[string]*appsv1.ReplicaSet) bool { return len(all) == 1 })
	r.patch("deployments", "web", `{"spec":{"paused":true}}`)
	one(r, "deployments", "default", "web", func(d *appsv1.Deployment) bool {
		return reasonOf(d, appsv1.DeploymentProgressing) == "DeploymentPaused"
	})
	r.patch("deployments", "web", `{"spec":{"replicas":2}}`)
	r.available("web:1")
}

// A new value of minReadySeconds applies to the pods that exist.
func TestMinReadySecondsChange(t *testing.T) {
	r := start(t, controllers.Options{}, "deployment", "replicaset", "scheduler", "kubelet")
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), web(1), metav1.CreateOptions{}))(r)
	r.available("web:1")
	r.patch("deployments", "web", `{"spec":{"minReadySeconds":500}}`)
	one(r, "deployments", "default", "web", func(d *appsv1.Deployment) bool { return d.Status.ReadyReplicas == 1 && d.Status.AvailableReplicas == 0 })
}

// A rollout whose pods never become ready removes no more pods than maxUnavailable allows, and is
// reported as timed out.
func TestStuckRolloutsKeepTheOldPods(t *testing.T) {
	broken := make(chan struct{})
	r := start(t, controllers.Options{Address: func(pod *corev1.Pod) (string, error) {
		if strings.HasSuffix(pod.Spec.Containers[0].Image, ":broken") {
			<-broken
		}
		return "10.9.9.9", nil
	}})
	t.Cleanup(func() { close(broken) })
	d := web(4)
	d.Spec.ProgressDeadlineSeconds = new(int32(1))
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}))(r)
	r.available("web:1")
	r.image("web:broken")
	until(r, "a timeout", r.watch("deployments", "default"), func(all map[string]*appsv1.Deployment) bool {
		d := all["default/web"]
		if d.Status.AvailableReplicas < 3 {
			t.Errorf("%d pods available, but only 1 of 4 may be missing", d.Status.AvailableReplicas)
		}
		// At most five pods exist, and at least three are available: three old ones and two broken ones.
		// Conditions have whole seconds, so the deadline may pass before the last pod is counted.
		if d.Status.UnavailableReplicas > 2 {
			t.Errorf("%d pods are reported as unavailable, want at most 2", d.Status.UnavailableReplicas)
		}
		timedOut := reasonOf(d, appsv1.DeploymentProgressing) == "ProgressDeadlineExceeded"
		return timedOut && d.Status.UnavailableReplicas == 2
	})
}

// The hash in a ReplicaSet's name distinguishes old templates. The number of old ReplicaSets stays
// within the history limit.
func TestHistoryIsLimited(t *testing.T) {
	r := start(t, controllers.Options{})
	d := web(1)
	d.Spec.RevisionHistoryLimit = new(int32(1))
	must(r.kube.AppsV1().Deployments("default").Create(t.Context(), d, metav1.CreateOptions{}))(r)
	r.available("web:1")
	for _, image := range []string{"web:2", "web:3"} {
		r.image(image)
		r.available(image)
	}
	until(r, "two replica sets", r.watch("replicasets", "default"), func(all map[string]*appsv1.ReplicaSet) bool { return len(all) == 2 })
}

func reasonOf(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) string {
	for _, c := range d.Status.Conditions {
		if c.Type == kind {
			return c.Reason
		}
	}
	return ""
}
