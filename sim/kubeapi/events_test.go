package kubeapi

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// An event that is written through one group is also visible in the other.
func TestEventsAreSharedByBothGroups(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	w, err := c.EventsV1().Events("default").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	about := corev1.ObjectReference{Kind: "Ingress", Namespace: "default", Name: "web"}
	old := &corev1.Event{ObjectMeta: metav1.ObjectMeta{Name: "old"}, InvolvedObject: about, Message: "synced", Count: 1}
	if _, err := c.CoreV1().Events("default").Create(t.Context(), old, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != "ADDED" || e.Object.(*eventsv1.Event).Note != "synced" {
		t.Errorf("event %+v", e)
	}
	if _, err := c.EventsV1().Events("default").Patch(t.Context(), "old", types.StrategicMergePatchType, []byte(`{"note":"again","deprecatedCount":2}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != "MODIFIED" || e.Object.(*eventsv1.Event).DeprecatedCount != 2 {
		t.Errorf("event %+v", e)
	}
	if _, err := c.EventsV1().Events("default").Create(t.Context(), &eventsv1.Event{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Regarding: about}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := c.CoreV1().Events("").List(t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=web"})
	if err != nil || len(list.Items) != 2 || list.Items[1].Message != "again" {
		t.Errorf("core events %+v, %v", list.Items, err)
	}
	if s.Holds()["events"] != 2 || s.Holds()["events.events.k8s.io"] != 0 {
		t.Errorf("holds %v", s.Holds())
	}
}
