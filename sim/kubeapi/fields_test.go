package kubeapi

import (
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Selectors may use the same fields as in Kubernetes.
func TestFieldSelectorsOfKinds(t *testing.T) {
	s := start(t)
	for _, obj := range []runtime.Object{
		&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}, Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{
			Spec: corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "i"}}}}}},
		&corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}, InvolvedObject: corev1.ObjectReference{Name: "web", Namespace: "default"},
			ReportingController: "ctl"},
	} {
		if _, err := s.Writer().Create(obj); err != nil {
			t.Fatal(err)
		}
	}
	w := wire{t, s.URL()}
	for path, want := range map[string]int{
		"/apis/batch/v1/jobs?fieldSelector=status.successful=0":                                   1,
		"/apis/batch/v1/jobs?fieldSelector=status.successful=1":                                   0,
		"/apis/apps/v1/replicasets?fieldSelector=status.replicas=0":                               0,
		"/api/v1/replicationcontrollers?fieldSelector=status.replicas=0":                          0,
		"/apis/certificates.k8s.io/v1/certificatesigningrequests?fieldSelector=spec.signerName=x": 0,
		"/apis/events.k8s.io/v1/events?fieldSelector=regarding.name=web":                          1,
		"/apis/events.k8s.io/v1/events?fieldSelector=regarding.name!=web":                         0,
		"/apis/events.k8s.io/v1/events?fieldSelector=reportingController=ctl":                     1,
		"/apis/events.k8s.io/v1/events?fieldSelector=metadata.name=a":                             1,
		"/api/v1/events?fieldSelector=involvedObject.name=web":                                    1,
	} {
		code, list := w.do("GET", path, "")
		if items, _ := list.Object["items"].([]any); code != 200 || len(items) != want {
			t.Errorf("%s: %d objects, want %d: %d %s", path, len(items), want, code, text(list, "message"))
		}
	}
	_, err := client(t, s.Config()).EventsV1().Events("").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
	if !errors.IsBadRequest(err) || !strings.Contains(err.Error(), "field label not supported: involvedObject.name") {
		t.Errorf("a field of the other version of events: %v", err)
	}
}
