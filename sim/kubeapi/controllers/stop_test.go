package controllers_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/sim/kubeapi/controllers"
)

// After Stop, no goroutine of the controllers is left, not even one that watches or waits.
func TestStopEndsAllGoroutines(t *testing.T) {
	r := startAlone(t)
	running, err := controllers.Start(t.Context(), r.api.Config(), controllers.Options{StopAfter: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	must(r.kube.AppsV1().StatefulSets("default").Create(t.Context(), database(1), metav1.CreateOptions{}))(r)
	r.rolled("db", 1)
	r.runJob(task("report"))
	r.finishes("report", completed)
	if err := r.kube.CoreV1().Pods("default").Delete(t.Context(), "db-0", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	running.Stop()
	err = wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		return goroutines() == 0, nil
	})
	if err != nil {
		t.Errorf("%d goroutines still run controllers or informers", goroutines())
	}
}

// goroutines returns how many goroutines run code of controllers or informers.
func goroutines() (n int) {
	stacks := make([]byte, 8<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		if strings.Contains(stack, "sim/kubeapi/controllers.(") || strings.Contains(stack, "client-go/tools/cache.") {
			n++
		}
	}
	return n
}
