package kubeapi

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A new object keeps its creation time only with Options.CreationTimes, and only if it is in the past.
func TestCreationTimes(t *testing.T) {
	old := metav1.NewTime(time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC))
	for _, keeps := range []bool{false, true} {
		s, err := Start(Options{HTTP: "127.0.0.1:0", CreationTimes: keeps})
		check(t, err)
		t.Cleanup(func() { s.Close(t.Context()) })
		c := client(t, s.Config()).CoreV1().ConfigMaps("default")
		create := func(name string, at metav1.Time) metav1.Time {
			t.Helper()
			made, err := c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: at}}, metav1.CreateOptions{})
			check(t, err)
			return made.CreationTimestamp
		}
		if at := create("old", old); at.Equal(&old) != keeps {
			t.Errorf("CreationTimes %t: created at %v", keeps, at)
		}
		if at := create("future", metav1.NewTime(time.Now().Add(time.Hour))); at.After(time.Now()) {
			t.Errorf("CreationTimes %t: created in the future, at %v", keeps, at)
		}
		object, err := c.Get(t.Context(), "old", metav1.GetOptions{})
		check(t, err)
		before := object.CreationTimestamp
		object.CreationTimestamp = metav1.Time{}
		if object, err = c.Update(t.Context(), object, metav1.UpdateOptions{}); err != nil || !object.CreationTimestamp.Equal(&before) {
			t.Errorf("CreationTimes %t: after an update created at %v, %v; was %v", keeps, object.CreationTimestamp, err, before)
		}
	}
}
