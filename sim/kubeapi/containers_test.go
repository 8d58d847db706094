package kubeapi

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A request that needs a container is refused with one line that says why. A missing pod is
// reported first.
func TestContainerRequestsAreRefused(t *testing.T) {
	t.Parallel()
	s := guarded(t)
	k := newKubectl(t, s)
	pods := client(t, s.Config()).CoreV1().Pods("default")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "web"}}}}
	pod, err := pods.Create(t.Context(), pod, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pod.Status.Phase = corev1.PodRunning // port-forward checks the phase
	if _, err := pods.UpdateStatus(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{"logs web", "logs -f web", "exec web -- date", "exec -it web -- sh", "attach web", "port-forward web :80", "cp web:/etc/hosts hosts"} {
		out, err := k.command(t.Context(), strings.Fields(args)...).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		last := lines[len(lines)-1]
		if err == nil || !strings.Contains(last, "pod web is simulated and has no containers") {
			t.Errorf("kubectl %s: %v\n%s", args, err, out)
		}
	}
	if out, _ := k.command(t.Context(), "logs", "none").CombinedOutput(); !strings.Contains(string(out), `pods "none" not found`) {
		t.Errorf("kubectl logs none: %s", out)
	}
}
