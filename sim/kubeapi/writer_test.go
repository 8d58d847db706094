package kubeapi

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

func inDefault(name, v string) *corev1.ConfigMap {
	cm := configMap(name, v)
	cm.Namespace = "default"
	return cm
}

// For clients, a change by a Writer looks like a change by another client.
func TestWriter(t *testing.T) {
	s := start(t)
	writer := s.Writer()
	w, err := client(t, s.Config()).CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "3"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	given := inDefault("a", "1")
	unchanged := given.DeepCopy()
	created := must(t)(writer.Create(given))
	updated := must(t)(writer.Update(inDefault("a", "2")))
	if same := must(t)(writer.Update(inDefault("a", "2"))); same != updated {
		t.Errorf("an update without a change has version %d, after %d", same, updated)
	}
	deleted := must(t)(writer.Delete(given))
	if !equality.Semantic.DeepEqual(given, unchanged) {
		t.Errorf("the writer modified its argument: %+v", given)
	}
	uid := ""
	for _, want := range []struct {
		kind watch.EventType
		rv   uint64
		v    string
	}{{watch.Added, created, "1"}, {watch.Modified, updated, "2"}, {watch.Deleted, deleted, "2"}} {
		e := <-w.ResultChan()
		cm := e.Object.(*corev1.ConfigMap)
		if e.Type != want.kind || cm.ResourceVersion != object.FormatVersion(want.rv) || cm.Labels["v"] != want.v || cm.CreationTimestamp.IsZero() {
			t.Errorf("event %s %+v, want %+v", e.Type, cm, want)
		}
		if uid == "" {
			uid = string(cm.UID)
		}
		if string(cm.UID) != uid || uid == "" {
			t.Errorf("uid %q after %q", cm.UID, uid)
		}
	}
}

func must(t *testing.T) func(uint64, error) uint64 {
	return func(rv uint64, err error) uint64 {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
		return rv
	}
}

func TestWriterValidatesLikeARequest(t *testing.T) {
	w := start(t).Writer()
	old := must(t)(w.Create(inDefault("a", "1")))
	must(t)(w.Update(inDefault("a", "2")))
	stale, elsewhere, nameless := inDefault("a", "3"), inDefault("a", "1"), inDefault("", "1")
	stale.ResourceVersion = object.FormatVersion(old)
	elsewhere.Namespace = "nowhere"
	for name, test := range map[string]struct {
		change Change
		is     func(error) bool
	}{
		"exists":       {Change{Kind: watch.Added, Object: inDefault("a", "1")}, errors.IsAlreadyExists},
		"missing":      {Change{Kind: watch.Modified, Object: inDefault("b", "1")}, errors.IsNotFound},
		"not there":    {Change{Kind: watch.Deleted, Object: inDefault("b", "1")}, errors.IsNotFound},
		"stale":        {Change{Kind: watch.Modified, Object: stale}, errors.IsConflict},
		"no namespace": {Change{Kind: watch.Added, Object: elsewhere}, errors.IsNotFound},
		"invalid":      {Change{Kind: watch.Added, Object: inDefault("not/a/name", "1")}, errors.IsInvalid},
		"no name":      {Change{Kind: watch.Added, Object: nameless}, func(err error) bool { return strings.Contains(err.Error(), "name") }},
		"no change":    {Change{Kind: watch.Bookmark, Object: inDefault("a", "1")}, func(err error) bool { return strings.Contains(err.Error(), "BOOKMARK") }},
		"no resource":  {Change{Kind: watch.Added, Object: &metav1.Status{}}, func(err error) bool { return strings.Contains(err.Error(), "Status") }},
	} {
		for how, versions := range map[string]func() (uint64, error){
			"one": func() (uint64, error) { return single(w, test.change) },
			"batch": func() (uint64, error) {
				rv, err := w.Apply([]Change{test.change})
				if list, ok := err.(interface{ Unwrap() []error }); ok && len(list.Unwrap()) == 1 {
					err = unjoin(err)
				}
				return rv[0], err
			},
		} {
			if rv, err := versions(); err == nil || !test.is(err) || rv != 0 {
				t.Errorf("%s, %s: version %d, %v", name, how, rv, err)
			}
		}
	}
}

// single makes a change with the method for its kind, if there is one.
func single(w Writer, change Change) (uint64, error) {
	switch change.Kind {
	case watch.Added:
		return w.Create(change.Object)
	case watch.Modified:
		return w.Update(change.Object)
	case watch.Deleted:
		return w.Delete(change.Object)
	}
	versions, err := w.Apply([]Change{change})
	return versions[0], err
}

// unjoin returns the only error inside any number of joins.
func unjoin(err error) error {
	for {
		list, ok := err.(interface{ Unwrap() []error })
		if !ok {
			return err
		}
		err = list.Unwrap()[0]
	}
}

// The changes of a batch are made in order, even if some of them fail.
func TestWriterApply(t *testing.T) {
	s := start(t)
	w := s.Writer()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	versions, err := w.Apply([]Change{
		{Kind: watch.Added, Object: inDefault("a", "1")},
		{Kind: watch.Added, Object: inDefault("b", "1")},
		{Kind: watch.Modified, Object: inDefault("a", "2")},
		{Kind: watch.Modified, Object: inDefault("missing", "2")},
		{Kind: watch.Added, Object: service},
		{Kind: watch.Deleted, Object: inDefault("b", "")},
		{Kind: watch.Added, Object: inDefault("b", "2")},
		{Kind: watch.Modified, Object: inDefault("b", "2")},
	})
	if !errors.IsNotFound(unjoin(err)) {
		t.Errorf("error %v", err)
	}
	first := versions[0]
	for i, want := range []uint64{0, 1, 2, 0, 3, 4, 5, 5} {
		if i != 3 {
			want += first
		}
		if versions[i] != want {
			t.Errorf("change %d has version %d of %v, want %d", i, versions[i], versions, want)
		}
	}
	for name, v := range map[string]string{"a": "2", "b": "2"} {
		cm, err := client(t, s.Config()).CoreV1().ConfigMaps("default").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil || cm.Labels["v"] != v {
			t.Errorf("%s is %v, %v", name, cm, err)
		}
	}
	if n := s.Holds()["services"]; n != 1 {
		t.Errorf("holds %d services", n)
	}
}

// Finalizers hold objects that a Writer deletes; a namespace is deleted with its contents.
func TestWriterDeletes(t *testing.T) {
	s := start(t)
	w := s.Writer()
	held := inDefault("held", "1")
	held.Finalizers = []string{"example.com/wait"}
	must(t)(w.Create(held))
	marked := must(t)(w.Delete(held))
	if again := must(t)(w.Delete(held)); again != marked {
		t.Errorf("deleting it again: version %d, after %d", again, marked)
	}
	if n := s.Holds()["configmaps"]; n != 1 {
		t.Errorf("holds %d config maps", n)
	}
	must(t)(w.Update(inDefault("held", "1")))
	if n := s.Holds()["configmaps"]; n != 0 {
		t.Errorf("holds %d config maps after the finalizer was removed", n)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	inside := configMap("a", "1")
	inside.Namespace = "shop"
	if _, err := w.Apply([]Change{{Kind: watch.Added, Object: ns}, {Kind: watch.Added, Object: inside}, {Kind: watch.Deleted, Object: ns}}); err != nil {
		t.Error(err)
	}
	if holds := s.Holds(); holds["configmaps"] != 0 || holds["namespaces"] != 4 {
		t.Errorf("holds %v", holds)
	}
}

func TestWriterUpdatesStatus(t *testing.T) {
	s := start(t)
	w := s.Writer()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "web", Image: "web"}}}}
	must(t)(w.Create(pod))
	pod.Status.PodIP, pod.Spec.NodeName = "127.0.0.9", "n2"
	must(t)(w.UpdateStatus(pod))
	got, err := client(t, s.Config()).CoreV1().Pods("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || got.Status.PodIP != "127.0.0.9" || got.Spec.NodeName != "n1" || got.Generation != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := w.UpdateStatus(inDefault("a", "1")); err == nil {
		t.Error("a config map has a status")
	}
}

// The deletion of a definition takes locks that a batch holds, so it is not part of one.
func TestWriterDeletesDefinitionInBatch(t *testing.T) {
	s := start(t)
	crd := define(t, s, widgetDefinition)
	done := make(chan error, 1)
	go func() {
		_, err := s.Writer().Apply([]Change{{Kind: watch.Added, Object: inDefault("a", "1")}, {Kind: watch.Deleted, Object: crd}})
		done <- err
	}()
	select {
	case err := <-done:
		if held := s.Holds()["customresourcedefinitions.apiextensions.k8s.io"]; err != nil || held != 0 {
			t.Errorf("%d definitions are left: %v", held, err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("the deletion does not end")
	}
}
