package observe

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/observe/notice"
	"windtunnel.dev/sim/subject"
)

// An observation that outlives all controllers still names the controller that it observed.
func TestControllersGone(t *testing.T) {
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "controller", Labels: map[string]string{"app": "controller"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "controller", Image: "controller:v1", Args: []string{"--sync-rate-limit=2"}}}},
	}
	if _, err := api.Writer().Create(pod); err != nil {
		t.Fatal(err)
	}
	ob := &observation{
		Options: Options{API: api.Config(), Namespace: "default", Selector: "app=controller"},
		log:     event.NewLog(nowhere{}, time.Now()), ledger: notice.NewLedger("", nil),
	}
	if ob.client, err = kubernetes.NewForConfig(ob.API); err != nil {
		t.Fatal(err)
	}
	if ob.controllers, err = ob.findControllers(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := ob.client.CoreV1().Pods("default").Delete(t.Context(), "controller", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	var running sync.WaitGroup
	if ob.controllers.refresh(t.Context(), ob, &running); len(ob.controllers.now()) > 0 {
		t.Fatal("the controller is not gone")
	}
	made, _ := ob.scenario()
	if s := made.Subjects[0]; s.Controller != subject.ImagePrefix+"controller:v1" || s.Flags["sync-rate-limit"] != "2" {
		t.Errorf("subject %+v", s)
	}
}
