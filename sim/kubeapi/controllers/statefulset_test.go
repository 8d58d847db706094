package controllers_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/controllers"
)

func database(replicas int32) *appsv1.StatefulSet {
	d := web(replicas)
	return &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "db"},
		Spec: appsv1.StatefulSetSpec{Replicas: &replicas, Selector: d.Spec.Selector, Template: d.Spec.Template, ServiceName: "db"}}
}

// rolled waits until all pods of a set have one image and are ready, and the status says so.
func (r rig) rolled(name string, replicas int32) *appsv1.StatefulSet {
	r.Helper()
	return one(r, "statefulsets", "default", name, func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.Replicas == replicas && s.Status.AvailableReplicas == replicas && s.Status.ReadyReplicas == replicas &&
			s.Status.UpdatedReplicas == replicas && s.Status.CurrentReplicas == replicas && s.Status.CurrentRevision == s.Status.UpdateRevision
	})
}

func (r rig) patch(resource, name, text string) {
	r.Helper()
	if err := r.kube.AppsV1().RESTClient().Patch(types.StrategicMergePatchType).Namespace("default").Resource(resource).Name(name).
		Body([]byte(text)).Do(r.Context()).Error(); err != nil {
		r.Fatal(err)
	}
}

const secondImage = `{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"web:2"}]}}}}`

// podEvents follows the pods in the namespace default from now on.
func (r rig) podEvents() watch.Interface {
	r.Helper()
	list := must(r.kube.CoreV1().Pods("default").List(r.Context(), metav1.ListOptions{}))(r)
	return must(r.kube.CoreV1().Pods("default").Watch(r.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion}))(r)
}

// story returns what happened to pods until the last of the given steps: created, ready, gone.
func story(r rig, w watch.Interface, last string) []string {
	r.Helper()
	defer w.Stop()
	var steps []string
	seen := map[string]bool{}
	timeout := time.After(patience)
	for {
		var step string
		select {
		case <-timeout:
			r.Fatalf("no step %q, only %q", last, steps)
		case e, open := <-w.ResultChan():
			if !open {
				r.Fatalf("the watch ended after %q", steps)
			}
			pod := e.Object.(*corev1.Pod)
			switch {
			case e.Type == watch.Deleted:
				step = pod.Name + " gone"
				delete(seen, pod.Name+" created")
				delete(seen, pod.Name+" ready")
			case e.Type == watch.Added:
				step = pod.Name + " created"
			case isReady(pod) && pod.DeletionTimestamp == nil:
				step = pod.Name + " ready"
			}
		}
		if step == "" || seen[step] {
			continue
		}
		seen[step] = true
		if steps = append(steps, step); step == last {
			return steps
		}
	}
}

func expectStory(r rig, got []string, want ...string) {
	r.Helper()
	if !slices.Equal(got, want) {
		r.Errorf("the pods' story is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestStatefulSetsKeepTheOrder(t *testing.T) {
	r := start(t, controllers.Options{ReadyAfter: 20 * time.Millisecond}, "statefulset", "scheduler", "kubelet")
	events := r.podEvents()
	set := database(2)
	set.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}, Spec: corev1.PersistentVolumeClaimSpec{
		AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}}}}}
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{}))(r)
	set = r.rolled("db", 2)
	expectStory(r, story(r, events, "db-1 ready"), "db-0 created", "db-0 ready", "db-1 created", "db-1 ready")

	pod := must(r.kube.CoreV1().Pods("default").Get(t.Context(), "db-1", metav1.GetOptions{}))(r)
	wantLabels := map[string]string{"app": "web", "statefulset.kubernetes.io/pod-name": "db-1", "apps.kubernetes.io/pod-index": "1", "controller-revision-hash": set.Status.UpdateRevision}
	if !maps.Equal(pod.Labels, wantLabels) || pod.Spec.Hostname != "db-1" || pod.Spec.Subdomain != "db" {
		t.Errorf("pod %v with the host name %s.%s", pod.Labels, pod.Spec.Hostname, pod.Spec.Subdomain)
	}
	claim := must(r.kube.CoreV1().PersistentVolumeClaims("default").Get(t.Context(), "data-db-1", metav1.GetOptions{}))(r)
	if v := pod.Spec.Volumes; len(v) != 1 || v[0].PersistentVolumeClaim == nil || v[0].PersistentVolumeClaim.ClaimName != claim.Name || claim.Labels["app"] != "web" {
		t.Errorf("volumes %+v, claim %+v", v, claim)
	}

	events = r.podEvents()
	r.patch("statefulsets", "db", secondImage)
	first := set
	set = r.rolled("db", 2)
	expectStory(r, story(r, events, "db-0 ready"), "db-1 gone", "db-1 created", "db-1 ready", "db-0 gone", "db-0 created", "db-0 ready")
	revisions := must(r.kube.AppsV1().ControllerRevisions("default").List(t.Context(), metav1.ListOptions{}))(r)
	if len(revisions.Items) != 2 || set.Status.UpdateRevision == first.Status.UpdateRevision {
		t.Errorf("%d revisions, the newest is %s", len(revisions.Items), set.Status.UpdateRevision)
	}

	events = r.podEvents()
	r.patch("statefulsets", "db", `{"spec":{"replicas":0}}`)
	r.rolled("db", 0)
	expectStory(r, story(r, events, "db-0 gone"), "db-1 gone", "db-0 gone")
}

// A rolling update with a partition replaces only the pods from the partition on. A deleted pod below it
// is recreated from the earlier template.
func TestStatefulSetPartition(t *testing.T) {
	r := start(t, controllers.Options{}, "statefulset", "scheduler", "kubelet")
	set := database(3)
	set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}}
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{}))(r)
	r.rolled("db", 3)
	r.patch("statefulsets", "db", secondImage)
	images := func(want string) {
		t.Helper()
		until(r, "images "+want, r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
			var all []string
			for _, name := range slices.Sorted(maps.Keys(pods)) {
				if pod := pods[name]; isReady(pod) && pod.DeletionTimestamp == nil {
					all = append(all, pod.Spec.Containers[0].Image)
				}
			}
			return strings.Join(all, " ") == want
		})
	}
	images("web:1 web:1 web:2")
	one(r, "statefulsets", "default", "db", func(s *appsv1.StatefulSet) bool {
		return s.Status.UpdatedReplicas == 1 && s.Status.CurrentReplicas == 2 && s.Status.CurrentRevision != s.Status.UpdateRevision && s.Status.ReadyReplicas == 3
	})
	old := must(r.kube.CoreV1().Pods("default").Get(t.Context(), "db-0", metav1.GetOptions{}))(r)
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "db-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	one(r, "pods", "default", "db-0", func(pod *corev1.Pod) bool { return pod.UID != old.UID && isReady(pod) })
	images("web:1 web:1 web:2")
	r.patch("statefulsets", "db", `{"spec":{"updateStrategy":{"rollingUpdate":{"partition":0}}}}`)
	r.rolled("db", 3)
	images("web:2 web:2 web:2")
}

// With the policy Parallel all pods are created at once, none waits for another.
func TestParallelStatefulSets(t *testing.T) {
	r := start(t, controllers.Options{ReadyAfter: time.Hour}, "statefulset", "scheduler", "kubelet")
	set := database(4)
	set.Spec.PodManagementPolicy = appsv1.ParallelPodManagement
	set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5}
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{}))(r)
	until(r, "four pods", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		return pods["default/db-5"] != nil && pods["default/db-8"] != nil && len(pods) == 4
	})
	r.patch("statefulsets", "db", `{"spec":{"replicas":1}}`)
	until(r, "one pod", r.watch("pods", "default"), func(pods map[string]*corev1.Pod) bool {
		return pods["default/db-5"] != nil && len(pods) == 1
	})
}

// Pods of the strategy OnDelete keep their template until they are deleted.
func TestStatefulSetOnDelete(t *testing.T) {
	r := start(t, controllers.Options{}, "statefulset", "scheduler", "kubelet")
	set := database(2)
	set.Spec.UpdateStrategy.Type = appsv1.OnDeleteStatefulSetStrategyType
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{}))(r)
	one(r, "statefulsets", "default", "db", func(s *appsv1.StatefulSet) bool { return s.Status.ReadyReplicas == 2 })
	r.patch("statefulsets", "db", secondImage)
	one(r, "statefulsets", "default", "db", func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == s.Generation && s.Status.UpdatedReplicas == 0
	})
	for i := range 2 {
		name := fmt.Sprint("db-", i)
		if pod := must(r.kube.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{}))(r); pod.Spec.Containers[0].Image != "web:1" {
			t.Errorf("pod %s has the new template", name)
		}
		if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		one(r, "pods", "default", name, func(pod *corev1.Pod) bool { return pod.Spec.Containers[0].Image == "web:2" })
	}
}

// The partition counts from the first ordinal.
func TestStatefulSetPartitionAfterTheFirstOrdinal(t *testing.T) {
	r := start(t, controllers.Options{}, "statefulset", "scheduler", "kubelet")
	set := database(2)
	set.Spec.Ordinals = &appsv1.StatefulSetOrdinals{Start: 5}
	set.Spec.UpdateStrategy = appsv1.StatefulSetUpdateStrategy{Type: appsv1.RollingUpdateStatefulSetStrategyType,
		RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(1))}}
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), set, metav1.CreateOptions{}))(r)
	r.rolled("db", 2)
	old := must(r.kube.CoreV1().Pods("default").Get(t.Context(), "db-5", metav1.GetOptions{}))(r)
	r.patch("statefulsets", "db", secondImage)
	one(r, "pods", "default", "db-6", func(pod *corev1.Pod) bool { return pod.Spec.Containers[0].Image == "web:2" && isReady(pod) })
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "db-5", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if pod := one(r, "pods", "default", "db-5", func(pod *corev1.Pod) bool { return pod.UID != old.UID && isReady(pod) }); pod.Spec.Containers[0].Image != "web:1" {
		t.Errorf("the pod below the partition has image %s", pod.Spec.Containers[0].Image)
	}
}
