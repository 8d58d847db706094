package kubeapi

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/fault"
)

// An empty list has none of the objects that every cluster has, and a watch from its version brings
// all of them.
func TestEmptyListIsFromBeforeFirstObject(t *testing.T) {
	s := start(t)
	namespaces := client(t, s.Config()).CoreV1().Namespaces()
	stop, err := s.Inject(fault.EmptyList(), fault.Scope{})
	if err != nil {
		t.Fatal(err)
	}
	list, err := namespaces.List(t.Context(), metav1.ListOptions{})
	stop()
	if err != nil || len(list.Items) != 0 {
		t.Fatalf("%d namespaces: %v", len(list.Items), err)
	}
	w, err := namespaces.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := <-w.ResultChan(); e.Type != watch.Added || e.Object.(metav1.Object).GetName() != metav1.NamespaceDefault {
		t.Errorf("the first event is %s %v", e.Type, e.Object)
	}
}
