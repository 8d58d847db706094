package main

import (
	"context"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/deploy"
	"windtunnel.dev/deploy/deploytest"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
)

// TestChurnRoles runs the Job of deploy/churn against an API server with the permissions of
// deploy/churn. The Job must need each of them.
func TestChurnRoles(t *testing.T) {
	objects, err := deploy.Build("churn", nil)
	if err != nil {
		t.Fatal(err)
	}
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close(context.Background())
	var args []string
	for _, object := range objects {
		switch is := object.(type) {
		case *batchv1.Job:
			args = is.Spec.Template.Spec.Containers[0].Args
		case *corev1.Namespace:
			if _, err := api.Writer().Create(is); err != nil {
				t.Fatal(err)
			}
		}
	}
	roles := deploytest.NewAuthorizer(objects)
	heal, err := api.Inject(roles.Fault(), fault.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	args = append(slices.Clone(args), "--kubeconfig="+api.Kubeconfig(), "--for=1s", "--rate=20")
	if code := Main(t.Context(), args, t.Output(), t.Output()); code != exitOK {
		t.Errorf("exit code %d", code)
	}
	heal()
	refused, needless := roles.Verdict()
	for _, request := range refused {
		t.Errorf("no role allows a request of churn: %+v", request)
	}
	for _, one := range needless {
		t.Errorf("churn never used a permission of a role: %+v", one)
	}
	left, err := kubernetes.NewForConfigOrDie(api.Config()).CoreV1().Services("windtunnel-churn").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("%d services remain, %v", len(left.Items), err)
	}
}
