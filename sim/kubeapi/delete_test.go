package kubeapi

import (
	"net/http"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A body of another kind is a mistake of the client, so nothing is deleted.
func TestDeleteRefusesBodyOfOtherKind(t *testing.T) {
	w := wire{t, start(t).URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	code, status := w.do("DELETE", cmPath+"/a", `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}`)
	if message := text(status, "message"); code != http.StatusBadRequest || !strings.Contains(message, "ConfigMap") {
		t.Errorf("%d %s", code, message)
	}
	if code, _ := w.do("GET", cmPath+"/a", ""); code != http.StatusOK {
		t.Errorf("after the refusal: %d", code)
	}
}

// With a limit, the deletion of a collection deletes one page, in the order of a list.
func TestDeleteCollectionDeletesOnePage(t *testing.T) {
	c := client(t, start(t).Config()).CoreV1().ConfigMaps("default")
	for _, name := range []string{"c", "a", "b"} {
		if _, err := c.Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	left := func() (names []string) {
		list, err := c.List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, cm := range list.Items {
			names = append(names, cm.Name)
		}
		return names
	}
	for _, step := range []struct {
		limit int64
		left  string
	}{{2, "c"}, {0, ""}} {
		if err := c.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{Limit: step.limit}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(left(), " "); got != step.left {
			t.Errorf("after a deletion with the limit %d, %q is left, want %q", step.limit, got, step.left)
		}
	}
}
