package kubeapi

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestServerSetsMetadata(t *testing.T) {
	s := start(t)
	ings := client(t, s.Config()).NetworkingV1().Ingresses("default")
	ing := ingress("web")
	ing.Name, ing.GenerateName = "", "web-"
	ing.UID, ing.Generation = "mine", 7
	ing.Status.LoadBalancer.Ingress = append(ing.Status.LoadBalancer.Ingress, ingressAddress("127.0.0.9"))
	made, err := ings.Create(t.Context(), ing, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(made.Name, "web-") || len(made.Name) != len("web-")+5 {
		t.Errorf("name %q", made.Name)
	}
	if len(made.UID) != 36 || made.Generation != 1 || made.CreationTimestamp.IsZero() || made.ResourceVersion == "" {
		t.Errorf("metadata %+v", made.ObjectMeta)
	}
	if len(made.Status.LoadBalancer.Ingress) != 0 {
		t.Error("a create set the status")
	}
}

func TestGenerationCountsSpecs(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	ings := c.NetworkingV1().Ingresses("default")
	ing, err := ings.Create(t.Context(), ingress("web"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	step := func(what string, generation int64, changed bool) {
		t.Helper()
		was := ing.ResourceVersion
		if what == "status" {
			ing, err = ings.UpdateStatus(t.Context(), ing, metav1.UpdateOptions{})
		} else {
			ing, err = ings.Update(t.Context(), ing, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Fatal(what, err)
		}
		if ing.Generation != generation || (was != ing.ResourceVersion) != changed {
			t.Errorf("%s: generation %d, version %s after %s; want generation %d, a new version: %v", what, ing.Generation, ing.ResourceVersion, was, generation, changed)
		}
	}
	step("nothing", 1, false)
	ing.Annotations = map[string]string{"a": "b"}
	step("metadata", 1, true)
	ing.Spec.Rules[0].Host = "other.example"
	step("spec", 2, true)
	ing.Status.LoadBalancer.Ingress = append(ing.Status.LoadBalancer.Ingress, ingressAddress("127.0.0.1"))
	step("status through the wrong endpoint", 2, false)
	ing.Status.LoadBalancer.Ingress = append(ing.Status.LoadBalancer.Ingress, ingressAddress("127.0.0.1"))
	ing.Spec.Rules[0].Host = "ignored.example"
	step("status", 2, true)
	if ing.Spec.Rules[0].Host != "other.example" || len(ing.Status.LoadBalancer.Ingress) != 1 {
		t.Errorf("after a write of the status: %+v", ing)
	}

	slices := c.DiscoveryV1().EndpointSlices("default")
	sl, err := slices.Create(t.Context(), slice("web", 1), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sl.Labels["more"] = "labels"
	if sl, err = slices.Update(t.Context(), sl, metav1.UpdateOptions{}); err != nil || sl.Generation != 2 {
		t.Errorf("a slice's labels: generation %d, %v; want 2", sl.Generation, err)
	}
}

func TestFinalizersHoldAnObject(t *testing.T) {
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	cm := configMap("a", "1")
	cm.Finalizers = []string{"example.com/hold"}
	made, err := cms.Create(t.Context(), cm, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w, err := cms.Watch(t.Context(), metav1.ListOptions{ResourceVersion: made.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if err := cms.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != "MODIFIED" || e.Object.(*corev1.ConfigMap).DeletionTimestamp == nil {
		t.Fatalf("event %+v", e)
	}
	if _, err := cms.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != "DELETED" {
		t.Fatalf("event %+v", e)
	}
	if _, err := cms.Get(t.Context(), "a", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("it still exists: %v", err)
	}
}

func TestDeletedNamespaceDeletesItsContents(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	if _, err := c.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	held := configMap("held", "1")
	held.Finalizers = []string{"example.com/hold"}
	for _, cm := range []*corev1.ConfigMap{held, configMap("free", "1")} {
		if _, err := c.CoreV1().ConfigMaps("team").Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.CoreV1().Namespaces().Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	ns, err := c.CoreV1().Namespaces().Get(t.Context(), "team", metav1.GetOptions{})
	if err != nil || ns.Status.Phase != corev1.NamespaceTerminating {
		t.Fatalf("phase %q, %v; want Terminating while a finalizer holds an object", ns.Status.Phase, err)
	}
	_, err = c.CoreV1().ConfigMaps("team").Create(t.Context(), configMap("late", "1"), metav1.CreateOptions{})
	if !errors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		t.Errorf("creating in it: %v", err)
	}
	if _, err := c.CoreV1().ConfigMaps("team").Patch(t.Context(), "held", types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CoreV1().Namespaces().Get(t.Context(), "team", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("it still exists: %v", err)
	}
	if n := s.Holds()["configmaps"]; n != 0 {
		t.Errorf("%d config maps remain", n)
	}
}

func TestDeleteCollectionSelects(t *testing.T) {
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	for name, v := range map[string]string{"a": "1", "b": "2", "c": "1"} {
		if _, err := cms.Create(t.Context(), configMap(name, v), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := cms.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "v=1"}); err != nil {
		t.Fatal(err)
	}
	list, err := cms.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 || list.Items[0].Name != "b" {
		t.Errorf("remaining objects %v, %v", list, err)
	}
}

func TestDryRunStoresNothing(t *testing.T) {
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	dry := []string{metav1.DryRunAll}
	if _, err := cms.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{DryRun: dry}); err != nil {
		t.Fatal(err)
	}
	if _, err := cms.Get(t.Context(), "a", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("a dry run created it: %v", err)
	}
	if _, err := cms.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := s.state.Version()
	changed, err := cms.Update(t.Context(), configMap("a", "2"), metav1.UpdateOptions{DryRun: dry})
	if err != nil || changed.Labels["v"] != "2" {
		t.Errorf("response %v, %v", changed, err)
	}
	if err := cms.Delete(t.Context(), "a", metav1.DeleteOptions{DryRun: dry}); err != nil {
		t.Error(err)
	}
	if s.state.Version() != before {
		t.Error("a dry run stored something")
	}
}

func TestPatches(t *testing.T) {
	s := start(t)
	svcs := client(t, s.Config()).CoreV1().Services("default")
	svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{
		{Name: "http", Port: 80}, {Name: "https", Port: 443}}}}
	made, err := svcs.Create(t.Context(), svc, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if made.Spec.ClusterIP == "" || made.Spec.Ports[1].TargetPort.IntVal != 443 || made.Spec.Ports[0].Protocol != corev1.ProtocolTCP {
		t.Errorf("defaults: %+v", made.Spec)
	}
	// A strategic merge finds the port by its key; a JSON merge replaces the list.
	got, err := svcs.Patch(t.Context(), "web", types.StrategicMergePatchType, []byte(`{"spec":{"ports":[{"port":443,"targetPort":8443}]}}`), metav1.PatchOptions{})
	if err != nil || len(got.Spec.Ports) != 2 || got.Spec.Ports[1].TargetPort.IntVal != 8443 {
		t.Errorf("strategic: %+v, %v", got.Spec.Ports, err)
	}
	got, err = svcs.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"spec":{"ports":[{"port":81}]}}`), metav1.PatchOptions{})
	if err != nil || len(got.Spec.Ports) != 1 || got.Spec.Ports[0].Port != 81 {
		t.Errorf("merge: %+v, %v", got.Spec.Ports, err)
	}
	test := `[{"op":"test","path":"/metadata/resourceVersion","value":"` + got.ResourceVersion + `"},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]`
	if got, err = svcs.Patch(t.Context(), "web", types.JSONPatchType, []byte(test), metav1.PatchOptions{}); err != nil || got.Labels["a"] != "b" {
		t.Errorf("JSON: %+v, %v", got.Labels, err)
	}
	if _, err = svcs.Patch(t.Context(), "web", types.JSONPatchType, []byte(test), metav1.PatchOptions{}); !errors.IsInvalid(err) {
		t.Errorf("a failing test: %v", err)
	}
	if _, err = svcs.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"resourceVersion":"1","labels":null}}`), metav1.PatchOptions{}); !errors.IsConflict(err) {
		t.Errorf("a stale version: %v", err)
	}
}

// For the kinds that allow it, a PUT creates a missing object, whatever resourceVersion it has. The
// writer owns its fields.
func TestPutCreates(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	for path, body := range map[string]string{
		"/apis/coordination.k8s.io/v1/namespaces/default/leases/a": `{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"holderIdentity":"me"}}`,
		"/api/v1/namespaces/default/services/a":                    `{"metadata":{"name":"a"},"spec":{"ports":[{"port":1}]}}`,
		"/api/v1/namespaces/default/endpoints/a":                   `{"metadata":{"name":"a"}}`,
		"/api/v1/namespaces/default/events/a":                      `{"metadata":{"name":"a"},"involvedObject":{"namespace":"default"},"reason":"R"}`,
	} {
		code, obj := w.do("PUT", path+"?fieldManager=m", body)
		if code != http.StatusCreated || obj.GetUID() == "" {
			t.Errorf("PUT %s: %d %v", path, code, obj.Object)
		}
		if owners := obj.GetManagedFields(); (len(owners) != 1 || owners[0].Manager != "m") && !strings.Contains(path, "endpoints") {
			t.Errorf("PUT %s: owners %v", path, owners)
		}
	}
	if code, _ := w.do("PUT", cmPath+"/a", `{"metadata":{"name":"a"}}`); code != http.StatusNotFound {
		t.Errorf("a config map: %d", code)
	}
}

func TestUnknownFieldsWarn(t *testing.T) {
	s := start(t)
	resp := wire{t, s.URL()}.send("POST", cmPath, "application/json", `{"metadata":{"name":"a"},"dada":{}}`)
	if resp.StatusCode != http.StatusCreated || resp.Header.Get("Warning") != `299 - "unknown field \"dada\""` {
		t.Errorf("%s, warning %q", resp.Status, resp.Header.Get("Warning"))
	}
}

// System namespaces cannot be deleted, by any kind of request.
func TestSystemNamespacesCannotBeDeleted(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate(cmPath, `{"metadata":{"name":"a"}}`)
	before := everything(s)
	for _, name := range []string{"default", "kube-system", "kube-public"} {
		for _, query := range []string{"", "?dryRun=All", "?propagationPolicy=Foreground", "?gracePeriodSeconds=0"} {
			code, status := w.do("DELETE", "/api/v1/namespaces/"+name+query, "")
			if want := `namespaces "` + name + `" is forbidden: this namespace may not be deleted`; code != 403 || text(status, "message") != want || text(status, "reason") != "Forbidden" {
				t.Errorf("%s%s: %d %v", name, query, code, status.Object)
			}
		}
	}
	unharmed(t, httptest.NewRequest("DELETE", "/", nil), 403, before, everything(s))
	if code, status := w.do("DELETE", "/api/v1/namespaces/kube-node-lease", ""); code != 200 {
		t.Errorf("kube-node-lease: %d %v", code, status.Object)
	}
}
