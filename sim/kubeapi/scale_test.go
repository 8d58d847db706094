package kubeapi

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applyautoscaling "k8s.io/client-go/applyconfigurations/autoscaling/v1"
)

// A ReplicationController, the oldest kind, selects only by labels.
func TestScaleOfReplicationController(t *testing.T) {
	s := start(t)
	rcs := client(t, s.Config()).CoreV1().ReplicationControllers("default")
	rc := &corev1.ReplicationController{ObjectMeta: metav1.ObjectMeta{Name: "old"}, Spec: corev1.ReplicationControllerSpec{Replicas: new(int32(2)),
		Selector: map[string]string{"app": "old"}, Template: &deployment("old", 1).Spec.Template}}
	if _, err := rcs.Create(t.Context(), rc, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	scale, err := rcs.GetScale(t.Context(), "old", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 2 || scale.Status.Selector != "app=old" {
		t.Errorf("got %+v, %v", scale, err)
	}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
			},
		},
	}
}

func TestScale(t *testing.T) {
	s := start(t)
	deploys := client(t, s.Config()).AppsV1().Deployments("default")
	if _, err := deploys.Create(t.Context(), deployment("web", 2), metav1.CreateOptions{FieldManager: "user"}); err != nil {
		t.Fatal(err)
	}
	scale, err := deploys.GetScale(t.Context(), "web", metav1.GetOptions{})
	if err != nil || scale.Spec.Replicas != 2 || scale.Status.Selector != "app=web" || scale.ResourceVersion == "" {
		t.Fatalf("got %+v, %v", scale, err)
	}
	stale := scale.DeepCopy()
	scale.Spec.Replicas = 3
	if scale, err = deploys.UpdateScale(t.Context(), "web", scale, metav1.UpdateOptions{FieldManager: "hpa"}); err != nil || scale.Spec.Replicas != 3 {
		t.Fatalf("got %+v, %v", scale, err)
	}
	deploy, err := deploys.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil || *deploy.Spec.Replicas != 3 || deploy.Generation != 2 || deploy.ResourceVersion != scale.ResourceVersion {
		t.Errorf("got %+v, %v", deploy, err)
	}
	got := owners(deploy.ObjectMeta)
	if got["hpa Update scale"] != `{"f:spec":{"f:replicas":{}}}` || strings.Contains(got["user Update"], "f:replicas") {
		t.Errorf("owners %v", got)
	}
	stale.Spec.Replicas = 9
	if _, err := deploys.UpdateScale(t.Context(), "web", stale, metav1.UpdateOptions{}); !errors.IsConflict(err) {
		t.Errorf("a stale scale: %v", err)
	}
	stale.ResourceVersion, stale.Spec.Replicas = "", -1
	_, err = deploys.UpdateScale(t.Context(), "web", stale, metav1.UpdateOptions{})
	if want := `Scale.autoscaling "web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
	stale.Spec.Replicas, stale.UID = 1, "other"
	if _, err := deploys.UpdateScale(t.Context(), "web", stale, metav1.UpdateOptions{}); !errors.IsConflict(err) || !strings.Contains(err.Error(), `deployments/scale.apps "web"`) {
		t.Errorf("the scale of another object: %v", err)
	}
}

func TestScalePatches(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	sets := c.AppsV1().ReplicaSets("default")
	d := deployment("web", 1)
	rs := &appsv1.ReplicaSet{ObjectMeta: d.ObjectMeta, Spec: appsv1.ReplicaSetSpec{Replicas: d.Spec.Replicas, Selector: d.Spec.Selector, Template: d.Spec.Template}}
	if _, err := sets.Create(t.Context(), rs, metav1.CreateOptions{FieldManager: "user"}); err != nil {
		t.Fatal(err)
	}
	if _, err := sets.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"replicas":4}}`), metav1.PatchOptions{}, "scale"); err != nil {
		t.Fatal(err)
	}
	apply := applyautoscaling.Scale().WithName("web").WithNamespace("default").WithSpec(applyautoscaling.ScaleSpec().WithReplicas(5))
	if _, err := sets.ApplyScale(t.Context(), "web", apply, metav1.ApplyOptions{FieldManager: "hpa"}); !errors.IsConflict(err) {
		t.Errorf("replicas that another manager owns: %v", err)
	}
	scale, err := sets.ApplyScale(t.Context(), "web", apply, metav1.ApplyOptions{FieldManager: "hpa", Force: true})
	if err != nil || scale.Spec.Replicas != 5 {
		t.Fatalf("got %+v, %v", scale, err)
	}
	var raw autoscalingv1.Scale
	err = c.AppsV1().RESTClient().Get().AbsPath("/apis/apps/v1/namespaces/default/replicasets/web/scale").
		SetHeader("Accept", "application/json").Do(t.Context()).Into(&raw)
	if err != nil || raw.Spec.Replicas != 5 {
		t.Errorf("got %+v, %v", raw, err)
	}
	if _, err := sets.GetScale(t.Context(), "none", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("the scale of a missing object: %v", err)
	}
}
