package controllers_test

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/controllers"
)

// patience is the time limit of every wait in a failing test.
const patience = time.Minute

// rig is a cluster with controllers, for the duration of a test.
type rig struct {
	*testing.T
	api  *kubeapi.Server
	kube *kubernetes.Clientset
}

func start(t *testing.T, opts controllers.Options, names ...string) rig {
	t.Helper()
	r := startAlone(t)
	running, err := controllers.Start(t.Context(), r.api.Config(), opts, names...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	return r
}

// startAlone starts a cluster without controllers.
func startAlone(t *testing.T) rig {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), Kubelet: true, NamespaceController: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := api.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	kube, err := kubernetes.NewForConfig(api.Config())
	if err != nil {
		t.Fatal(err)
	}
	return rig{t, api, kube}
}

// until follows a list of objects, by namespace and name, until ok accepts it.
func until[T runtime.Object](r rig, what string, lw *cache.ListWatch, ok func(map[string]T) bool) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	var kind T
	objects := map[string]T{}
	// ready is also called before the first event, because there may be none.
	ready := func(store cache.Store) (bool, error) {
		for _, obj := range store.List() {
			m := obj.(metav1.Object)
			objects[m.GetNamespace()+"/"+m.GetName()] = obj.(T)
		}
		return ok(objects), nil
	}
	empty := kindOf(kind)
	_, err := watchtools.UntilWithSync(ctx, lw, empty, func(store cache.Store) (bool, error) { return ready(store) }, func(e watch.Event) (bool, error) {
		m := e.Object.(metav1.Object)
		key := m.GetNamespace() + "/" + m.GetName()
		if e.Type == watch.Deleted {
			delete(objects, key)
		} else {
			objects[key] = e.Object.(T)
		}
		return ok(objects), nil
	})
	if err != nil {
		r.Fatalf("%s: %v; there are %d: %s", what, err, len(objects), summary(objects))
	}
}

// kindOf returns an empty object of the same type.
func kindOf(obj runtime.Object) runtime.Object {
	return reflect.New(reflect.TypeOf(obj).Elem()).Interface().(runtime.Object)
}

func summary[T runtime.Object](objects map[string]T) (text string) {
	for key, obj := range objects {
		text += fmt.Sprintf("\n%s: %+v", key, obj)
	}
	return text[:min(len(text), 3000)]
}

// watch returns the list and the watch of a resource. An empty namespace means all.
func (r rig) watch(resource, namespace string) *cache.ListWatch {
	r.Helper()
	clients := map[string]cache.Getter{
		"deployments": r.kube.AppsV1().RESTClient(), "replicasets": r.kube.AppsV1().RESTClient(),
		"statefulsets": r.kube.AppsV1().RESTClient(), "daemonsets": r.kube.AppsV1().RESTClient(), "controllerrevisions": r.kube.AppsV1().RESTClient(),
		"endpointslices": r.kube.DiscoveryV1().RESTClient(), "jobs": r.kube.BatchV1().RESTClient(), "cronjobs": r.kube.BatchV1().RESTClient(),
		"poddisruptionbudgets": r.kube.PolicyV1().RESTClient(), "horizontalpodautoscalers": r.kube.AutoscalingV2().RESTClient(),
		"leases": r.kube.CoordinationV1().RESTClient(),
	}
	client, ok := clients[resource]
	if !ok {
		client = r.kube.CoreV1().RESTClient()
	}
	return cache.NewFilteredListWatchFromClient(client, resource, namespace, func(*metav1.ListOptions) {})
}

// one waits until ok accepts the object with this namespace and name, and returns it.
func one[T runtime.Object](r rig, resource, namespace, name string, ok func(T) bool) T {
	r.Helper()
	var found T
	until(r, resource+" "+name, r.watch(resource, namespace), func(all map[string]T) bool {
		obj, there := all[namespace+"/"+name]
		found = obj
		return there && ok(obj)
	})
	return found
}

func web(replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": "web"}
	unavailable, surge := intstr.FromString("25%"), intstr.FromString("25%")
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels},
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{MaxUnavailable: &unavailable, MaxSurge: &surge}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web:1",
					Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}}}},
			},
		},
	}
}

func webService() *corev1.Service {
	return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web", Labels: map[string]string{"tier": "front"}}, Spec: corev1.ServiceSpec{
		Selector: map[string]string{"app": "web"},
		Ports:    []corev1.ServicePort{{Name: "http", Port: 80, TargetPort: intstr.FromString("http")}},
	}}
}

func must[T any](value T, err error) func(r rig) T {
	return func(r rig) T {
		r.Helper()
		if err != nil {
			r.Fatal(err)
		}
		return value
	}
}

func isReady(pod *corev1.Pod) bool {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
