package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestDeletePropagation(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	for name, test := range map[string]struct {
		has, body  string
		code       int
		kind       string
		finalizers []string
	}{
		"background":         {"", `{"propagationPolicy":"Background"}`, 200, "Status", nil},
		"none":               {"", "", 200, "Status", nil},
		"foreground":         {"", `{"propagationPolicy":"Foreground"}`, 200, "ConfigMap", []string{"foregroundDeletion"}},
		"orphan":             {"", `{"propagationPolicy":"Orphan"}`, 200, "ConfigMap", []string{"orphan"}},
		"orphan dependents":  {"", `{"orphanDependents":true}`, 200, "ConfigMap", []string{"orphan"}},
		"do not orphan":      {"", `{"orphanDependents":false}`, 200, "Status", nil},
		"held, not orphaned": {`"a.b/c"`, `{"orphanDependents":false}`, 202, "ConfigMap", []string{"a.b/c"}},
		"foreground, held":   {`"a.b/c"`, `{"propagationPolicy":"Foreground"}`, 200, "ConfigMap", []string{"a.b/c", "foregroundDeletion"}},
		"policy overrides":   {`"orphan"`, `{"propagationPolicy":"Background"}`, 200, "Status", nil},
		"finalizer decides":  {`"foregroundDeletion"`, "", 200, "ConfigMap", []string{"foregroundDeletion"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire{t, s.URL()}
			w.mustCreate(cmPath, fmt.Sprintf(`{"metadata":{"generateName":"p","name":"p","finalizers":[%s]}}`, test.has))
			code, obj := w.do("DELETE", cmPath+"/p", test.body)
			if code != test.code || obj.GetKind() != test.kind || !slices.Equal(obj.GetFinalizers(), test.finalizers) {
				t.Errorf("got %d %s %v, want %d %s %v", code, obj.GetKind(), obj.GetFinalizers(), test.code, test.kind, test.finalizers)
			}
			if test.kind != "Status" {
				if obj.GetDeletionTimestamp() == nil {
					t.Error("not marked as deleted")
				}
				w.answer(w.send("PATCH", cmPath+"/p", "application/merge-patch+json", `{"metadata":{"finalizers":null}}`))
			}
			if code, _ := w.do("GET", cmPath+"/p", ""); code != http.StatusNotFound {
				t.Errorf("then GET: %d", code)
			}
		})
	}
	code, status := w.do("DELETE", cmPath+"/p", `{"propagationPolicy":"Sideways"}`)
	if code != 422 || text(status, "details", "kind") != "DeleteOptions" {
		t.Errorf("got %d %v", code, status.Object)
	}
	if code, status = w.do("DELETE", cmPath+"/p?propagationPolicy=Orphan&orphanDependents=true", ""); code != 422 {
		t.Errorf("both, in the query: %d %v", code, status.Object)
	}
}

// Events own nothing, so no propagation policy delays their deletion.
func TestDeleteEventInForeground(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	const events = "/api/v1/namespaces/default/events"
	w.mustCreate(events, `{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"}}`)
	if code, obj := w.do("DELETE", events+"/e", `{"propagationPolicy":"Foreground"}`); code != 200 || obj.GetKind() != "Status" {
		t.Errorf("got %d %v", code, obj.Object)
	}
}

func TestDeletePreconditions(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	made := w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	if code, status := w.do("DELETE", cmPath+"/a", `{"preconditions":{"resourceVersion":"1"}}`); code != 409 {
		t.Errorf("got %d %v", code, status.Object)
	}
	body := fmt.Sprintf(`{"preconditions":{"resourceVersion":%q,"uid":%q}}`, made.GetResourceVersion(), made.GetUID())
	code, status := w.do("DELETE", cmPath+"/a", body)
	if uid, _, _ := unstructured.NestedString(status.Object, "details", "uid"); code != 200 || uid != string(made.GetUID()) {
		t.Errorf("got %d %v", code, status.Object)
	}
}

func TestDeleteCollectionKeepsObjectsWithFinalizers(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	w.mustCreate(cmPath, `{"metadata":{"name":"b","finalizers":["a.b/c"]}}`)
	if code, list := w.do("DELETE", cmPath, `{"dryRun":["All"]}`); code != 200 || s.Holds()["configmaps"] != 2 {
		t.Errorf("dry run: %d %v, holds %v", code, list.Object, s.Holds())
	}
	code, list := w.do("DELETE", cmPath, "")
	items, _, _ := unstructured.NestedSlice(list.Object, "items")
	if code != 200 || list.GetKind() != "ConfigMapList" || len(items) != 2 || s.Holds()["configmaps"] != 1 {
		t.Errorf("%d %v, holds %v", code, list.Object, s.Holds())
	}
}
