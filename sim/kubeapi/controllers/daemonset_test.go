package controllers_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/kubeapi/controllers"
)

func agent() *appsv1.DaemonSet {
	d := web(1)
	return &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Name: "agent"}, Spec: appsv1.DaemonSetSpec{Selector: d.Spec.Selector, Template: d.Spec.Template}}
}

// covered waits until the status reports n nodes with a current available pod, and no others.
func (r rig) covered(n int32) *appsv1.DaemonSet {
	r.Helper()
	return one(r, "daemonsets", "default", "agent", func(d *appsv1.DaemonSet) bool {
		s := d.Status
		return s.ObservedGeneration == d.Generation && s.DesiredNumberScheduled == n && s.CurrentNumberScheduled == n && s.NumberReady == n &&
			s.NumberAvailable == n && s.UpdatedNumberScheduled == n && s.NumberUnavailable == 0 && s.NumberMisscheduled == 0
	})
}

// agents waits until each of the nodes runs exactly one pod.
func (r rig) agents(nodes ...string) {
	r.Helper()
	until(r, fmt.Sprint("a pod on each of ", nodes), r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		on := map[string]int{}
		for _, pod := range pods {
			on[pod.Spec.NodeName]++
		}
		for _, node := range nodes {
			if on[node] != 1 {
				return false
			}
		}
		return len(pods) == len(nodes)
	})
}

func (r rig) patchNode(name, text string) {
	r.Helper()
	must(r.kube.CoreV1().Nodes().Patch(r.Context(), name, types.StrategicMergePatchType, []byte(text), metav1.PatchOptions{}))(r)
}

// Every node runs one pod: also a cordoned one and one that comes later, but not those that the
// pod's node selector or taints exclude.
func TestDaemonSetsFollowTheNodes(t *testing.T) {
	r := start(t, controllers.Options{Nodes: []string{"a", "b", "c"}}, "daemonset", "scheduler", "kubelet")
	r.patchNode("b", `{"spec":{"unschedulable":true}}`)
	must(r.kube.AppsV1().DaemonSets("default").Create(t.Context(), agent(), metav1.CreateOptions{}))(r)
	r.covered(3)
	r.agents("a", "b", "c")
	later := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "later"}}
	must(r.kube.CoreV1().Nodes().Create(t.Context(), later, metav1.CreateOptions{}))(r)
	r.agents("a", "b", "c", "later")
	r.patchNode("later", `{"spec":{"taints":[{"key":"gpu","effect":"NoSchedule"}]}}`) // only new pods are kept away
	one(r, "daemonsets", "default", "agent", func(d *appsv1.DaemonSet) bool {
		return d.Status.DesiredNumberScheduled == 3 && d.Status.NumberMisscheduled == 1
	})
	r.patch("daemonsets", "agent", `{"metadata":{"annotations":{"look":"again"}}}`)
	r.agents("a", "b", "c", "later")
	r.patchNode("later", `{"spec":{"taints":[{"key":"gpu","effect":"NoExecute"}]}}`)
	r.agents("a", "b", "c")
	r.patchNode("a", `{"metadata":{"labels":{"disk":"ssd"}}}`)
	r.patch("daemonsets", "agent", `{"spec":{"template":{"spec":{"nodeSelector":{"disk":"ssd"}}}}}`)
	r.covered(1)
	r.agents("a")
}

// A rolling update never exceeds maxUnavailable.
func TestDaemonSetRollingUpdate(t *testing.T) {
	nodes := strings.Split("abcdef", "")
	r := start(t, controllers.Options{Nodes: nodes, ReadyAfter: 5 * time.Millisecond, StopAfter: 5 * time.Millisecond}, "daemonset", "scheduler", "kubelet")
	ds := agent()
	two := intstr.FromInt32(2)
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &two}}
	must(r.kube.AppsV1().DaemonSets("default").Create(t.Context(), ds, metav1.CreateOptions{}))(r)
	r.covered(6)
	first := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	watcher := must(r.kube.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion}))(r)
	r.patch("daemonsets", "agent", secondImage)
	r.covered(6)
	r.agents(nodes...)
	last := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	for _, pod := range last.Items {
		if pod.Spec.Containers[0].Image != "web:2" {
			t.Errorf("pod %s has the image %s", pod.Name, pod.Spec.Containers[0].Image)
		}
	}
	if ready, there := followed(r, watcher, first, last); ready < 4 || there > 6 {
		t.Errorf("between %d and %d of 6 pods were ready, but only 2 may be missing", ready, there)
	}
}

// With a surge, the new pod of a node is ready before the old one is deleted.
func TestDaemonSetSurge(t *testing.T) {
	r := start(t, controllers.Options{Nodes: []string{"a", "b", "c"}, ReadyAfter: 5 * time.Millisecond}, "daemonset", "scheduler", "kubelet")
	ds := agent()
	one, none := intstr.FromInt32(1), intstr.FromInt32(0)
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: appsv1.RollingUpdateDaemonSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: &none, MaxSurge: &one}}
	must(r.kube.AppsV1().DaemonSets("default").Create(t.Context(), ds, metav1.CreateOptions{}))(r)
	r.covered(3)
	first := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	watcher := must(r.kube.CoreV1().Pods("default").Watch(t.Context(), metav1.ListOptions{ResourceVersion: first.ResourceVersion}))(r)
	r.patch("daemonsets", "agent", secondImage)
	r.covered(3)
	r.agents("a", "b", "c")
	last := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	if ready, there := followed(r, watcher, first, last); ready < 3 || there != 4 {
		t.Errorf("at least %d of 3 pods were ready, and at most %d existed", ready, there)
	}
}

// Pods of the strategy OnDelete keep their template until they are deleted.
func TestDaemonSetOnDelete(t *testing.T) {
	r := start(t, controllers.Options{}, "daemonset", "scheduler", "kubelet")
	ds := agent()
	ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
	must(r.kube.AppsV1().DaemonSets("default").Create(t.Context(), ds, metav1.CreateOptions{}))(r)
	r.covered(1)
	r.patch("daemonsets", "agent", secondImage)
	one(r, "daemonsets", "default", "agent", func(d *appsv1.DaemonSet) bool {
		return d.Status.ObservedGeneration == d.Generation && d.Status.UpdatedNumberScheduled == 0
	})
	pods := must(r.kube.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}))(r)
	if len(pods.Items) != 1 || pods.Items[0].Spec.Containers[0].Image != "web:1" {
		t.Fatalf("pods %+v", pods.Items)
	}
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), pods.Items[0].Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r.covered(1)
	until(r, "the new image", r.watch("pods", "default"), func(all map[string]*corev1.Pod) bool {
		for _, pod := range all {
			if pod.Spec.Containers[0].Image == "web:2" {
				return len(all) == 1
			}
		}
		return false
	})
}
