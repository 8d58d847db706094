package kubeapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/object"
)

// wire speaks bare HTTP and JSON with a server.
type wire struct {
	*testing.T
	base string
}

func (w wire) send(method, path, contentType, body string) *http.Response {
	w.Helper()
	req, err := http.NewRequestWithContext(w.Context(), method, w.base+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { resp.Body.Close() })
	return resp
}

// do sends JSON and returns the status code and the object of the answer.
func (w wire) do(method, path, body string) (int, *unstructured.Unstructured) {
	w.Helper()
	return w.answer(w.send(method, path, "application/json", body))
}

func (w wire) answer(resp *http.Response) (int, *unstructured.Unstructured) {
	w.Helper()
	obj := &unstructured.Unstructured{}
	if err := json.NewDecoder(resp.Body).Decode(&obj.Object); err != nil {
		w.Fatalf("%s %s: %v", resp.Request.Method, resp.Request.URL, err)
	}
	return resp.StatusCode, obj
}

func text(obj *unstructured.Unstructured, path ...string) string {
	s, _, _ := unstructured.NestedString(obj.Object, path...)
	return s
}

const cmPath = "/api/v1/namespaces/default/configmaps"

func (w wire) mustCreate(path, body string) *unstructured.Unstructured {
	w.Helper()
	code, obj := w.do("POST", path, body)
	if code != http.StatusCreated {
		w.Fatalf("POST %s: %d %s", path, code, text(obj, "message"))
	}
	return obj
}

// Requests that must fail, with kube-apiserver's Status for each.
func TestErrors(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	cm := w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	w.mustCreate("/apis/coordination.k8s.io/v1/namespaces/default/leases", `{"metadata":{"name":"leader"}}`)
	big := `{"data":{"k":"` + strings.Repeat("x", codec.MaxBody) + `"}}`
	modified := "the object has been modified; please apply your changes to the latest version and try again"
	for name, test := range map[string]struct {
		method, path, body string
		code               int
		reason, message    string
	}{
		"missing object":        {"GET", cmPath + "/none", "", 404, "NotFound", `configmaps "none" not found`},
		"unknown resource":      {"GET", "/api/v1/gadgets", "", 404, "NotFound", "the server could not find the requested resource"},
		"exists":                {"POST", cmPath, `{"metadata":{"name":"a"}}`, 409, "AlreadyExists", `configmaps "a" already exists`},
		"unknown namespace":     {"POST", "/api/v1/namespaces/none/configmaps", `{"metadata":{"name":"a"}}`, 404, "NotFound", `namespaces "none" not found`},
		"other namespace":       {"POST", cmPath, `{"metadata":{"name":"x","namespace":"kube-system"}}`, 400, "BadRequest", "the namespace of the provided object does not match the namespace sent on the request"},
		"version on create":     {"POST", cmPath, `{"metadata":{"name":"x","resourceVersion":"1"}}`, 500, "", "resourceVersion should not be set on objects to be created"},
		"no name":               {"POST", cmPath, `{}`, 422, "Invalid", "metadata.name: Required value: name or generateName is required"},
		"bad name":              {"POST", cmPath, `{"metadata":{"name":"A_"}}`, 422, "Invalid", `ConfigMap "A_" is invalid: metadata.name: Invalid value`},
		"not JSON":              {"POST", cmPath, `{`, 400, "BadRequest", ""},
		"other kind":            {"POST", cmPath, `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"x"}}`, 400, "BadRequest", "Secret"},
		"too large":             {"POST", cmPath, big, 413, "RequestEntityTooLarge", "limit is 3145728"},
		"strict":                {"POST", cmPath + "?fieldValidation=Strict", `{"metadata":{"name":"x"},"dada":1}`, 400, "BadRequest", `strict decoding error: unknown field "dada"`},
		"stale":                 {"PUT", cmPath + "/a", `{"metadata":{"name":"a","resourceVersion":"1"}}`, 409, "Conflict", modified},
		"other uid":             {"PUT", cmPath + "/a", `{"metadata":{"name":"a","uid":"b"}}`, 409, "Conflict", "UID in precondition: b, UID in object meta: " + string(cm.GetUID())},
		"name mismatch":         {"PUT", cmPath + "/a", `{"metadata":{"name":"b"}}`, 400, "BadRequest", "the name of the object (b) does not match the name on the URL (a)"},
		"update missing":        {"PUT", cmPath + "/none", `{"metadata":{"name":"none"}}`, 404, "NotFound", `configmaps "none" not found`},
		"lease without version": {"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader", `{"metadata":{"name":"leader"}}`, 422, "Invalid", "must be specified for an update"},
		"delete other uid":      {"DELETE", cmPath + "/a", `{"preconditions":{"uid":"b"}}`, 409, "Conflict", `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (b) does not match the UID in record (` + string(cm.GetUID()) + `)`},
		"lease at version zero": {"PUT", "/apis/coordination.k8s.io/v1/namespaces/default/leases/leader", `{"metadata":{"name":"leader"}}`, 422, "Invalid", `leases.coordination.k8s.io "leader" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`},
		"upsert of another":     {"PUT", "/api/v1/namespaces/default/services/new", `{"metadata":{"name":"new","uid":"b"},"spec":{"ports":[{"port":1}]}}`, 409, "Conflict", "UID in precondition: b"},
		"update without name":   {"PUT", cmPath + "/a", `{}`, 400, "BadRequest", "the name of the object (a based on URL) was undeterminable: name must be provided"},
		"long manager":          {"PUT", cmPath + "/a?fieldManager=" + strings.Repeat("x", 129), `{"metadata":{"name":"a"}}`, 422, "Invalid", `UpdateOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes`},
		"method":                {"POST", cmPath + "/a", `{}`, 405, "MethodNotAllowed", "the server does not allow this method on the requested resource"},
		"dry run":               {"POST", cmPath + "?dryRun=Some", `{"metadata":{"name":"x"}}`, 422, "Invalid", `CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value`},
		"field selector":        {"GET", cmPath + "?fieldSelector=data.k%3Dv", "", 400, "BadRequest", `"data.k" is not a known field selector: only "metadata.name", "metadata.namespace"`},
		"label selector":        {"GET", cmPath + "?labelSelector=a+b+c", "", 400, "BadRequest", "unable to parse requirement"},
		"list version":          {"GET", cmPath + "?resourceVersion=x", "", 400, "BadRequest", "Invalid value"},
		"continue":              {"GET", cmPath + "?continue=x", "", 400, "BadRequest", "continue"},
		"list initial events":   {"GET", cmPath + "?sendInitialEvents=true", "", 422, "Invalid", "sendInitialEvents is forbidden for list"},
		"initial, no match":     {"GET", cmPath + "?watch=1&sendInitialEvents=true", "", 422, "Invalid", "NotOlderThan"},
		"match, no initial":     {"GET", cmPath + "?watch=1&resourceVersionMatch=NotOlderThan", "", 422, "Invalid", "forbidden"},
		"ingress without path":  {"POST", "/apis/networking.k8s.io/v1/namespaces/default/ingresses", `{"metadata":{"name":"i"},"spec":{"rules":[{"http":{"paths":[{"path":"/"}]}}]}}`, 422, "Invalid", "spec.rules[0].http.paths[0].pathType: Required value"},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire{t, s.URL()}
			code, status := w.do(test.method, test.path, test.body)
			if code != test.code || text(status, "reason") != test.reason || !strings.Contains(text(status, "message"), test.message) {
				t.Errorf("got %d %s %q, want %d %s %q", code, text(status, "reason"), text(status, "message"), test.code, test.reason, test.message)
			}
			if status.GetKind() != "Status" || status.GetAPIVersion() != "v1" {
				t.Errorf("the response is a %s", status.GetKind())
			}
		})
	}
	t.Run("unknown group", func(t *testing.T) {
		resp := wire{t, s.URL()}.send("GET", "/apis/none.example/v1/things", "", "")
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 404 || strings.TrimSpace(string(body)) != "404 page not found" {
			t.Errorf("got %d %q", resp.StatusCode, body)
		}
	})
	t.Run("accept", func(t *testing.T) {
		req, _ := http.NewRequest("GET", s.URL()+cmPath, nil)
		req.Header.Set("Accept", "text/html")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusNotAcceptable {
			t.Errorf("%s", resp.Status)
		}
	})
}

func TestPagesAreFromOneSnapshot(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		w.mustCreate(cmPath, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	_, first := w.do("GET", cmPath+"?limit=2", "")
	if remaining, _, _ := unstructured.NestedFieldNoCopy(first.Object, "metadata", "remainingItemCount"); fmt.Sprint(remaining) != "3" {
		t.Errorf("%v remain, want 3", remaining)
	}
	w.do("DELETE", cmPath+"/d", "")
	w.mustCreate(cmPath, `{"metadata":{"name":"bb"}}`)
	w.do("PUT", cmPath+"/c", `{"metadata":{"name":"c"},"data":{"k":"new"}}`)
	var names []string
	for page := first; ; {
		items, _, _ := unstructured.NestedSlice(page.Object, "items")
		for _, item := range items {
			obj := unstructured.Unstructured{Object: item.(map[string]any)}
			names = append(names, obj.GetName()+text(&obj, "data", "k"))
		}
		if page.GetResourceVersion() != first.GetResourceVersion() {
			t.Errorf("a page has version %s, but the first has %s", page.GetResourceVersion(), first.GetResourceVersion())
		}
		token := text(page, "metadata", "continue")
		if token == "" {
			break
		}
		_, page = w.do("GET", cmPath+"?limit=2&continue="+token, "")
	}
	if got := strings.Join(names, " "); got != "a b c d e" {
		t.Errorf("pages of %q", got)
	}
	_, exact := w.do("GET", cmPath+"?resourceVersionMatch=Exact&resourceVersion="+first.GetResourceVersion(), "")
	if items, _, _ := unstructured.NestedSlice(exact.Object, "items"); len(items) != 5 {
		t.Errorf("%d items at the first version, want 5", len(items))
	}
	_, any := w.do("GET", cmPath+"?resourceVersion=0&limit=2", "")
	if items, _, _ := unstructured.NestedSlice(any.Object, "items"); len(items) != 5 || text(any, "metadata", "continue") != "" {
		t.Errorf("%d items of any version, want all 5 despite the limit", len(items))
	}
}

func TestCompactedTokenCanContinue(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	c := configMapsOf(s)
	for _, name := range []string{"a", "b", "c"} {
		w.mustCreate(cmPath, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	_, page := w.do("GET", cmPath+"?limit=1", "")
	c.LimitHistory(1)
	for _, name := range []string{"d", "e"} {
		w.mustCreate(cmPath, fmt.Sprintf(`{"metadata":{"name":%q}}`, name))
	}
	code, status := w.do("GET", cmPath+"?limit=1&continue="+text(page, "metadata", "continue"), "")
	if code != http.StatusGone || text(status, "reason") != "Expired" {
		t.Fatalf("got %d %s", code, text(status, "message"))
	}
	_, rest := w.do("GET", cmPath+"?continue="+text(status, "metadata", "continue"), "")
	if items, _, _ := unstructured.NestedSlice(rest.Object, "items"); len(items) != 4 {
		t.Errorf("%d items after a, want 4", len(items))
	}
}

// events reads the frames of a watch.
type events struct {
	*testing.T
	lines *bufio.Scanner
}

func (w wire) watch(path string) events {
	w.Helper()
	resp := w.send("GET", path, "", "")
	if resp.StatusCode != http.StatusOK {
		w.Fatalf("GET %s: %s", path, resp.Status)
	}
	return events{w.T, bufio.NewScanner(resp.Body)}
}

func (e events) next() (string, *unstructured.Unstructured) {
	e.Helper()
	if !e.lines.Scan() {
		return "", nil
	}
	var frame struct {
		Type   string
		Object map[string]any
	}
	if err := json.Unmarshal(e.lines.Bytes(), &frame); err != nil {
		e.Fatalf("frame %q: %v", e.lines.Text(), err)
	}
	return frame.Type, &unstructured.Unstructured{Object: frame.Object}
}

func (e events) expect(kind, name string) *unstructured.Unstructured {
	e.Helper()
	got, obj := e.next()
	if got != kind || (name != "" && obj.GetName() != name) {
		e.Fatalf("event %s %v, want %s %s", got, obj, kind, name)
	}
	return obj
}

func TestWatchListEndsInBookmark(t *testing.T) {
	t.Parallel() // it waits for the server to time out
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	w.mustCreate(cmPath, `{"metadata":{"name":"b"}}`)
	for _, query := range []string{"sendInitialEvents=true&resourceVersionMatch=NotOlderThan", "resourceVersion=0", ""} {
		t.Run("initial events, "+query, func(t *testing.T) {
			t.Parallel()
			e := wire{t, s.URL()}.watch(cmPath + "?watch=true&allowWatchBookmarks=true&timeoutSeconds=1&" + query)
			e.expect("ADDED", "a")
			e.expect("ADDED", "b")
			mark := e.expect("BOOKMARK", "")
			if mark.GetKind() != "ConfigMap" || mark.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
				t.Errorf("bookmark %v", mark.Object)
			}
			if mark.GetResourceVersion() != object.FormatVersion(s.state.Version()) {
				t.Errorf("bookmark at %s, the server is at %d", mark.GetResourceVersion(), s.state.Version())
			}
			if kind, obj := e.next(); kind != "" {
				t.Errorf("then %s %v, want the end at the timeout", kind, obj)
			}
		})
	}
	t.Run("from now", func(t *testing.T) {
		t.Parallel()
		e := wire{t, s.URL()}.watch(cmPath + "?watch=true&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan")
		if kind, obj := e.next(); kind != "" {
			t.Errorf("got %s %v", kind, obj)
		}
	})
}

// A watch with a selector reports objects that start or stop matching.
func TestSelectorWatchReportsChangedMatches(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	e := w.watch(cmPath + "?watch=true&resourceVersion=" + object.FormatVersion(s.state.Version()) + "&labelSelector=" + url.QueryEscape("on=yes"))
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	w.do("PUT", cmPath+"/a", `{"metadata":{"name":"a","labels":{"on":"yes"}},"data":{"n":"1"}}`)
	w.do("PUT", cmPath+"/a", `{"metadata":{"name":"a","labels":{"on":"yes"}},"data":{"n":"2"}}`)
	w.do("PUT", cmPath+"/a", `{"metadata":{"name":"a","labels":{"on":"yes"}},"data":{"n":"2"}}`) // no change: no event
	_, left := w.do("PUT", cmPath+"/a", `{"metadata":{"name":"a"},"data":{"n":"3"}}`)
	e.expect("ADDED", "a")
	e.expect("MODIFIED", "a")
	gone := e.expect("DELETED", "a")
	if text(gone, "data", "n") != "2" || gone.GetResourceVersion() != left.GetResourceVersion() {
		t.Errorf("deleted object %v, want its last matching state with version %s", gone.Object, left.GetResourceVersion())
	}
}

func TestFutureVersions(t *testing.T) {
	t.Parallel() // it waits for the server to time out
	s := start(t)
	t.Run("list", func(t *testing.T) {
		t.Parallel()
		code, status := wire{t, s.URL()}.do("GET", cmPath+"?resourceVersion=999", "")
		causes, _, _ := unstructured.NestedSlice(status.Object, "details", "causes")
		if code != http.StatusGatewayTimeout || len(causes) != 1 || causes[0].(map[string]any)["reason"] != "ResourceVersionTooLarge" {
			t.Errorf("got %d %v", code, status.Object)
		}
	})
	t.Run("streaming list", func(t *testing.T) {
		t.Parallel()
		e := wire{t, s.URL()}.watch(cmPath + "?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=999")
		if obj := e.expect("ERROR", ""); text(obj, "reason") != "Timeout" {
			t.Errorf("got %v", obj.Object)
		}
	})
}
