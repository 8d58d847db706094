package controller_test

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// awaitEvent returns the Event with a reason on an object of a kind.
func (r *running) awaitEvent(kind, reason string) corev1.Event {
	r.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		events, err := r.client.CoreV1().Events("default").List(r.Context(), metav1.ListOptions{})
		r.must(err)
		for _, event := range events.Items {
			if event.InvolvedObject.Kind == kind && event.Reason == reason {
				return event
			}
		}
	}
	r.Fatalf("no Event %s on a %s", reason, kind)
	return corev1.Event{}
}

// A finding becomes an Event on its object, once.
func TestFindingsAreEventsOnTheirObjects(t *testing.T) {
	t.Parallel()
	r := launch(t, true)
	r.service(pod(t, "127.88.0.1", "one"))
	r.awaitAnswer("one")
	ingresses := r.client.NetworkingV1().Ingresses("default")
	patch := func(annotations string) {
		t.Helper()
		_, err := ingresses.Patch(t.Context(), "web", "application/merge-patch+json", []byte(`{"metadata":{"annotations":{`+annotations+`}}}`), metav1.PatchOptions{})
		r.must(err)
	}
	patch(`"nginx.ingress.kubernetes.io/proxy-connect-timeout":"soon"`)
	event := r.awaitEvent("Ingress", "Misconfigured")
	ingress, err := ingresses.Get(t.Context(), "web", metav1.GetOptions{})
	r.must(err)
	if event.Type != corev1.EventTypeWarning || event.InvolvedObject.Name != "web" || event.InvolvedObject.UID != ingress.UID || !strings.Contains(event.Message, "proxy-connect-timeout") {
		t.Errorf("got %+v", event)
	}
	patch(`"nginx.ingress.kubernetes.io/proxy-body-size":"2m"`)
	r.awaitSync(reloaded)
	r.configure(map[string]string{"no-such-key": "1"}, r.client.CoreV1().ConfigMaps("default").Update)
	if event := r.awaitEvent("ConfigMap", "Misconfigured"); event.InvolvedObject.Name != "controller" || !strings.Contains(event.Message, "no-such-key") {
		t.Errorf("got %+v", event)
	}
	if event := r.awaitEvent("ConfigMap", "UPDATE"); event.Message != "ConfigMap default/controller" || event.Type != corev1.EventTypeNormal {
		t.Errorf("got %+v", event)
	}
	if event := r.awaitEvent("Ingress", "Misconfigured"); event.Count != 1 {
		t.Errorf("recorded %d times", event.Count)
	}
	if event := r.awaitEvent("Pod", "RELOAD"); event.InvolvedObject.Name != "controller" || event.Type != corev1.EventTypeNormal {
		t.Errorf("got %+v", event)
	}
}
