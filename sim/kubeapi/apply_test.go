package kubeapi

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applynetworking "k8s.io/client-go/applyconfigurations/networking/v1"
)

const applyYAML = string(types.ApplyYAMLPatchType)

// owners returns the owners of fields: manager operation subresource: fields.
func owners(m metav1.ObjectMeta) map[string]string {
	all := map[string]string{}
	for _, e := range m.ManagedFields {
		all[strings.TrimSpace(e.Manager+" "+string(e.Operation)+" "+e.Subresource)] = e.FieldsV1.GetRawString()
	}
	return all
}

func TestApplyCreatesAndUpdates(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	apply := func(body, query string) (int, map[string]any) {
		t.Helper()
		code, obj := w.answer(w.send("PATCH", cmPath+"/a?"+query, applyYAML, body))
		return code, obj.Object
	}
	const one = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {k: v, l: w}}"
	if code, _ := apply(one, "fieldManager=m&dryRun=All"); code != http.StatusCreated || s.Holds()["configmaps"] != 0 {
		t.Errorf("dry run: %d, holds %v", code, s.Holds())
	}
	code, made := apply(one, "fieldManager=m")
	if code != http.StatusCreated {
		t.Fatalf("first apply: %d %v", code, made)
	}
	rv := s.state.Version()
	if code, _ := apply(one, "fieldManager=m"); code != http.StatusOK || s.state.Version() != rv {
		t.Errorf("the same apply again: %d, version %d after %d", code, s.state.Version(), rv)
	}
	// A field that a manager no longer applies is removed, unless another manager also owns it.
	if code, _ := apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {l: w}}", "fieldManager=other"); code != http.StatusOK {
		t.Errorf("another manager: %d", code)
	}
	code, left := apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", "fieldManager=m")
	if data, _ := json.Marshal(left["data"]); code != http.StatusOK || string(data) != `{"l":"w"}` {
		t.Errorf("after taking its fields back: %d, data %s", code, data)
	}
}

func TestApplyConflicts(t *testing.T) {
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	if _, err := cms.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Data: map[string]string{"k": "v"}},
		metav1.CreateOptions{FieldManager: "creator"}); err != nil {
		t.Fatal(err)
	}
	mine := applycore.ConfigMap("a", "default").WithData(map[string]string{"k": "mine"})
	_, err := cms.Apply(t.Context(), mine, metav1.ApplyOptions{FieldManager: "me"})
	if !errors.IsConflict(err) || err.Error() != `Apply failed with 1 conflict: conflict with "creator" using v1: .data.k` {
		t.Fatalf("%v", err)
	}
	causes := err.(errors.APIStatus).Status().Details.Causes
	if len(causes) != 1 || causes[0].Type != metav1.CauseTypeFieldManagerConflict || causes[0].Field != ".data.k" ||
		causes[0].Message != `conflict with "creator" using v1` {
		t.Errorf("causes %+v", causes)
	}
	cm, err := cms.Apply(t.Context(), mine, metav1.ApplyOptions{FieldManager: "me", Force: true})
	if err != nil || cm.Data["k"] != "mine" {
		t.Fatalf("by force: %v, %v", cm, err)
	}
	if got := owners(cm.ObjectMeta); got["me Apply"] != `{"f:data":{"f:k":{}}}` || strings.Contains(got["creator Update"], "f:k") {
		t.Errorf("owners %v", got)
	}
}

// Objects that the harness writes in process have no owners until the first apply.
func TestApplyToAnObjectWithoutOwners(t *testing.T) {
	s := start(t)
	cm := configMap("a", "1")
	cm.Namespace = "default"
	cm.Data = map[string]string{"k": "v"}
	if _, err := s.Writer().Create(cm); err != nil {
		t.Fatal(err)
	}
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	got, err := cms.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"data":{"l":"w"}}`), metav1.PatchOptions{})
	if err != nil || len(got.ManagedFields) != 0 {
		t.Errorf("an update of it: owners %v, %v", got.ManagedFields, err)
	}
	_, err = cms.Apply(t.Context(), applycore.ConfigMap("a", "default").WithData(map[string]string{"k": "new"}), metav1.ApplyOptions{FieldManager: "me"})
	if !errors.IsConflict(err) || !strings.Contains(err.Error(), `"before-first-apply"`) {
		t.Errorf("%v", err)
	}
}

func TestApplyStatus(t *testing.T) {
	s := start(t)
	ings := client(t, s.Config()).NetworkingV1().Ingresses("default")
	status := applynetworking.Ingress("web", "default").WithStatus(applynetworking.IngressStatus().WithLoadBalancer(
		applynetworking.IngressLoadBalancerStatus().WithIngress(applynetworking.IngressLoadBalancerIngress().WithIP("10.0.0.1"))))
	if _, err := ings.ApplyStatus(t.Context(), status, metav1.ApplyOptions{FieldManager: "lb"}); !errors.IsNotFound(err) {
		t.Errorf("the status of a missing object: %v", err)
	}
	if _, err := ings.Create(t.Context(), ingress("web"), metav1.CreateOptions{FieldManager: "user"}); err != nil {
		t.Fatal(err)
	}
	ing, err := ings.ApplyStatus(t.Context(), status, metav1.ApplyOptions{FieldManager: "lb"})
	if err != nil || len(ing.Status.LoadBalancer.Ingress) != 1 || ing.Generation != 1 {
		t.Fatalf("got %+v, %v", ing, err)
	}
	if got := owners(ing.ObjectMeta); got["lb Apply status"] == "" || strings.Contains(got["user Update"], "f:status") {
		t.Errorf("owners %v", got)
	}
}

// The names of field managers, and the fields without an owner.
func TestFieldManagers(t *testing.T) {
	s := start(t)
	config := s.Config()
	config.UserAgent = "controller/v1.2 (linux/amd64)"
	svcs := client(t, config).CoreV1().Services("default")
	svc, err := svcs.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	fields := owners(svc.ObjectMeta)["controller Update"]
	for _, want := range []string{"f:internalTrafficPolicy", "f:sessionAffinity", `k:{\"port\":80,\"protocol\":\"TCP\"}`} {
		if !strings.Contains(fields, want) {
			t.Errorf("the creator does not own %s: %s", want, fields)
		}
	}
	if strings.Contains(fields, "clusterIP") {
		t.Errorf("the creator owns the address that the server chose: %s", fields)
	}
	svc.Status.LoadBalancer.Ingress = []corev1.LoadBalancerIngress{{IP: "10.0.0.1"}}
	if svc, err = svcs.UpdateStatus(t.Context(), svc, metav1.UpdateOptions{FieldManager: "lb"}); err != nil {
		t.Fatal(err)
	}
	if got := owners(svc.ObjectMeta)["lb Update status"]; got != `{"f:status":{"f:loadBalancer":{"f:ingress":{}}}}` {
		t.Errorf("the status belongs to %v", owners(svc.ObjectMeta))
	}
	// A client that ignores managedFields does not lose them; a client that empties them does.
	svc.ManagedFields = nil
	svc.Labels = map[string]string{"a": "b"}
	if svc, err = svcs.Update(t.Context(), svc, metav1.UpdateOptions{}); err != nil || len(svc.ManagedFields) != 2 {
		t.Errorf("owners %v, %v", owners(svc.ObjectMeta), err)
	}
	svc, err = svcs.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"managedFields":[{}]}}`), metav1.PatchOptions{})
	if err != nil || len(svc.ManagedFields) != 0 {
		t.Errorf("owners %v, %v", owners(svc.ObjectMeta), err)
	}
}

// Both representations of an event share their managedFields.
func TestApplyEvent(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	w.mustCreate("/api/v1/namespaces/default/events?fieldManager=core",
		`{"metadata":{"name":"e"},"involvedObject":{"namespace":"default"},"message":"one","reason":"R"}`)
	code, obj := w.answer(w.send("PATCH", "/apis/events.k8s.io/v1/namespaces/default/events/e?fieldManager=new&force=true", applyYAML,
		`{"apiVersion":"events.k8s.io/v1","kind":"Event","metadata":{"name":"e"},"note":"two"}`))
	if code != http.StatusOK || text(obj, "note") != "two" || text(obj, "reason") != "R" {
		t.Fatalf("got %d %v", code, obj.Object)
	}
	var m metav1.ObjectMeta
	raw, _ := json.Marshal(obj.Object["metadata"])
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	if got := owners(m); got["new Apply"] != `{"f:note":{}}` || strings.Contains(got["core Update"], "f:message") {
		t.Errorf("owners %v", got)
	}
}
