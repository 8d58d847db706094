package deploy_test

import (
	"context"
	"slices"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/deploy"
	"windtunnel.dev/sim/kubeapi"
)

func churnObjects(t *testing.T) []runtime.Object {
	t.Helper()
	objects, err := deploy.Build("churn", nil)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// The Job has permissions in its own namespace only.
func TestChurnUsesOnlyItsNamespace(t *testing.T) {
	objects := churnObjects(t)
	for _, object := range objects {
		about, err := meta.Accessor(object)
		if err != nil {
			t.Fatal(err)
		}
		if _, is := object.(*corev1.Namespace); is && about.GetName() != "windtunnel-churn" || !is && about.GetNamespace() != "windtunnel-churn" {
			t.Errorf("%T %s/%s", object, about.GetNamespace(), about.GetName())
		}
	}
	binding, job := all[*rbacv1.RoleBinding](objects)[0], all[*batchv1.Job](objects)[0]
	want := []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "windtunnel-churn", Name: job.Spec.Template.Spec.ServiceAccountName}}
	if !slices.Equal(binding.Subjects, want) || binding.RoleRef.Kind != "Role" || binding.RoleRef.Name != all[*rbacv1.Role](objects)[0].Name {
		t.Errorf("wrong binding %+v", binding)
	}
}

func TestChurnIsRestricted(t *testing.T) {
	objects := churnObjects(t)
	mustBeRestricted(t, all[*batchv1.Job](objects)[0].Spec.Template.Spec)
	if all[*corev1.Namespace](objects)[0].Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Error("the namespace does not enforce the standard")
	}
}

func TestServerAcceptsChurnManifests(t *testing.T) {
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close(context.Background())
	for _, object := range churnObjects(t) {
		if _, err := api.Writer().Create(object); err != nil {
			t.Errorf("%T: %v", object, err)
		}
	}
}
