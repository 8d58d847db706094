package controllers_test

import (
	"context"
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/controllers"
)

// startBench runs a server with all controllers, and returns a client.
func startBench(b *testing.B) *kubernetes.Clientset {
	b.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: b.TempDir(), Kubelet: true, NamespaceController: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { api.Close(context.Background()) })
	running, err := controllers.Start(b.Context(), api.Config(), controllers.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(running.Stop)
	config := api.Config()
	config.QPS = -1
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.Fatal(err)
	}
	return kube
}

// BenchmarkScale scales ten Deployments, each with a Service, to 100 pods and back to none.
func BenchmarkScale(b *testing.B) {
	const deployments, pods = 10, 100
	kube := startBench(b)
	for i := range deployments {
		d, svc := web(0), webService()
		d.Name, svc.Name = fmt.Sprint("web-", i), fmt.Sprint("web-", i)
		labels := map[string]string{"app": d.Name}
		d.Spec.Selector.MatchLabels, d.Spec.Template.Labels, svc.Spec.Selector = labels, labels, labels
		if _, err := kube.AppsV1().Deployments("default").Create(b.Context(), d, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
		if _, err := kube.CoreV1().Services("default").Create(b.Context(), svc, metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
	watcher, err := kube.AppsV1().Deployments("default").Watch(b.Context(), metav1.ListOptions{})
	if err != nil {
		b.Fatal(err)
	}
	defer watcher.Stop()
	before := cpuTime(b)
	for b.Loop() {
		for _, want := range []int32{pods, 0} {
			for i := range deployments {
				patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, want)
				if _, err := kube.AppsV1().Deployments("default").Patch(b.Context(), fmt.Sprint("web-", i), types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			ready := map[string]bool{}
			for len(ready) < deployments {
				d := (<-watcher.ResultChan()).Object.(*appsv1.Deployment)
				if delete(ready, d.Name); *d.Spec.Replicas == want && d.Status.ObservedGeneration == d.Generation && d.Status.Replicas == want && d.Status.AvailableReplicas == want {
					ready[d.Name] = true
				}
			}
		}
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N*deployments*pods), "cpu-µs/pod")
}

// cpuTime returns the processor time of this process, which other processes hardly affect.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkIdle reports the memory that a server without objects and its controllers hold.
func BenchmarkIdle(b *testing.B) {
	held := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapInuse+m.StackInuse) / (1 << 20)
	}
	before, goroutines := held(), runtime.NumGoroutine()
	startBench(b)
	for b.Loop() {
		runtime.Gosched()
	}
	b.ReportMetric(held()-before, "MiB")
	b.ReportMetric(float64(runtime.NumGoroutine()-goroutines), "goroutines")
}
