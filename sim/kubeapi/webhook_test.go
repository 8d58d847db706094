package kubeapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	stderrors "errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// hookServer is a webhook over HTTPS that records its requests.
type hookServer struct {
	*httptest.Server
	mu      sync.Mutex
	asked   []*admissionv1.AdmissionRequest
	version string // version of the last review
	answer  func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
}

func newHookServer(t *testing.T, answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse) *hookServer {
	h := &hookServer{answer: answer}
	h.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		var review admissionv1.AdmissionReview
		if err := json.NewDecoder(req.Body).Decode(&review); err != nil || req.URL.Path != "/check" || req.URL.Query().Get("timeout") == "" {
			http.Error(w, fmt.Sprintf("%s: %v", req.URL, err), http.StatusBadRequest)
			return
		}
		h.mu.Lock()
		h.asked, h.version = append(h.asked, review.Request), review.APIVersion
		h.mu.Unlock()
		review.Response = h.answer(review.Request)
		review.Response.UID, review.Request = review.Request.UID, nil
		json.NewEncoder(w).Encode(review)
	}))
	h.Config.ErrorLog = log.New(io.Discard, "", 0) // hides the errors of handshakes that must fail
	h.StartTLS()
	t.Cleanup(h.Close)
	return h
}

// questions returns the reviews received since the last call.
func (h *hookServer) questions() []*admissionv1.AdmissionRequest {
	h.mu.Lock()
	defer h.mu.Unlock()
	asked := h.asked
	h.asked = nil
	return asked
}

func (h *hookServer) clientConfig() admissionregistrationv1.WebhookClientConfig {
	address := h.URL + "/check"
	return admissionregistrationv1.WebhookClientConfig{URL: &address,
		CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.TLS.Certificates[0].Certificate[0]})}
}

func allow(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return &admissionv1.AdmissionResponse{Allowed: true}
}

func deny(code int32, message string) func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Result: &metav1.Status{Code: code, Message: message}}
	}
}

func hookRule(operations, group, resources string) admissionregistrationv1.RuleWithOperations {
	var ops []admissionregistrationv1.OperationType
	for op := range strings.SplitSeq(operations, ",") {
		ops = append(ops, admissionregistrationv1.OperationType(op))
	}
	return admissionregistrationv1.RuleWithOperations{Operations: ops, Rule: admissionregistrationv1.Rule{
		APIGroups: []string{group}, APIVersions: []string{"v1"}, Resources: strings.Split(resources, ",")}}
}

// install creates a configuration with one validating webhook, validate.example.com.
func (h *hookServer) install(t *testing.T, c kubernetes.Interface, rule admissionregistrationv1.RuleWithOperations, change func(*admissionregistrationv1.ValidatingWebhook)) {
	t.Helper()
	none := admissionregistrationv1.SideEffectClassNone
	hook := admissionregistrationv1.ValidatingWebhook{Name: "validate.example.com", ClientConfig: h.clientConfig(), SideEffects: &none,
		AdmissionReviewVersions: []string{"v1"}, Rules: []admissionregistrationv1.RuleWithOperations{rule}}
	if change != nil {
		change(&hook)
	}
	configuration := &admissionregistrationv1.ValidatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "check"}, Webhooks: []admissionregistrationv1.ValidatingWebhook{hook}}
	if _, err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestWebhookIsCalled(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	h := newHookServer(t, allow)
	h.install(t, c, hookRule("*", "networking.k8s.io", "ingresses,ingresses/status"), nil)
	ings := c.NetworkingV1().Ingresses("default")
	question := func(what string, operation admissionv1.Operation, options string, object, old bool) *admissionv1.AdmissionRequest {
		t.Helper()
		asked := h.questions()
		if len(asked) != 1 {
			t.Fatalf("%s: called %d times", what, len(asked))
		}
		q := asked[0]
		if q.Operation != operation || q.Name != "web" || q.Namespace != "default" || q.Kind.Kind != "Ingress" || q.RequestKind.Kind != "Ingress" ||
			q.Resource.Resource != "ingresses" || q.UserInfo.Username == "" || q.DryRun == nil || q.UID == "" {
			t.Errorf("%s: %+v", what, q)
		}
		if (len(q.Object.Raw) > 0) != object || (len(q.OldObject.Raw) > 0) != old || !strings.Contains(string(q.Options.Raw), `"kind":"`+options+`"`) {
			t.Errorf("%s: object %s, old %s, options %s", what, q.Object.Raw, q.OldObject.Raw, q.Options.Raw)
		}
		return q
	}
	if _, err := ings.Create(t.Context(), ingress("web"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
		t.Fatal(err)
	}
	if q := question("dry run", admissionv1.Create, "CreateOptions", true, false); !*q.DryRun {
		t.Error("the review does not mention the dry run")
	}
	made, err := ings.Create(t.Context(), ingress("web"), metav1.CreateOptions{FieldManager: "me"})
	if err != nil {
		t.Fatal(err)
	}
	q := question("create", admissionv1.Create, "CreateOptions", true, false)
	var sent networkingv1.Ingress
	if err := json.Unmarshal(q.Object.Raw, &sent); err != nil || sent.Kind != "Ingress" || sent.APIVersion != "networking.k8s.io/v1" || sent.UID != made.UID {
		t.Errorf("object %s, %v", q.Object.Raw, err)
	}
	if !strings.Contains(string(q.Options.Raw), `"fieldManager":"me"`) {
		t.Errorf("options %s", q.Options.Raw)
	}
	made.Labels = map[string]string{"a": "b"}
	if made, err = ings.Update(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	question("update", admissionv1.Update, "UpdateOptions", true, true)
	if _, err := ings.Patch(t.Context(), "web", types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	question("patch", admissionv1.Update, "UpdateOptions", true, true)
	made.ResourceVersion = ""
	made.Status.LoadBalancer.Ingress = append(made.Status.LoadBalancer.Ingress, ingressAddress("127.0.0.1"))
	if _, err = ings.UpdateStatus(t.Context(), made, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if q := question("status", admissionv1.Update, "UpdateOptions", true, true); q.SubResource != "status" {
		t.Errorf("subresource %q", q.SubResource)
	}
	if err := ings.Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	question("delete", admissionv1.Delete, "DeleteOptions", false, true)
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := len(h.questions()); n != 0 {
		t.Errorf("called %d times for a config map", n)
	}
	// Without a configuration the webhook is not called.
	if err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "check", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ings.Create(t.Context(), ingress("web"), metav1.CreateOptions{}); err != nil || len(h.questions()) != 0 {
		t.Errorf("after the configuration was deleted: %v", err)
	}
}

// Each call of a webhook is reported with its outcome.
func TestReviewsAreReported(t *testing.T) {
	for name, test := range map[string]struct {
		answer          func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
		change          func(*admissionregistrationv1.ValidatingWebhook)
		allowed, failed bool
	}{
		"allowed":   {answer: allow, allowed: true},
		"denied":    {answer: deny(http.StatusForbidden, "no")},
		"no answer": {answer: allow, change: func(h *admissionregistrationv1.ValidatingWebhook) { h.ClientConfig.CABundle = nil }, failed: true},
	} {
		t.Run(name, func(t *testing.T) {
			reviews := make(chan Review, 10)
			s := startWith(t, Options{HTTP: "127.0.0.1:0", Anonymous: true, OnReview: func(r Review) { reviews <- r }})
			c := client(t, s.Config())
			newHookServer(t, test.answer).install(t, c, hookRule("CREATE", "networking.k8s.io", "ingresses"), test.change)
			_, err := c.NetworkingV1().Ingresses("default").Create(t.Context(), ingress("web"), metav1.CreateOptions{})
			if (err == nil) != test.allowed {
				t.Errorf("creation: %v", err)
			}
			if len(reviews) != 1 {
				t.Fatalf("%d reviews", len(reviews))
			}
			if r := <-reviews; r.Webhook != "validate.example.com" || r.Allowed != test.allowed || (r.Err != nil) != test.failed || r.Took <= 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestWebhookDenies(t *testing.T) {
	for name, test := range map[string]struct {
		answer func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse
		code   int32
		want   string
	}{
		"bad request":         {deny(0, "nginx: [emerg]"), 400, `admission webhook "validate.example.com" denied the request: nginx: [emerg]`},
		"its own code":        {deny(403, "not you"), 403, `admission webhook "validate.example.com" denied the request: not you`},
		"without explanation": {deny(0, ""), 400, `admission webhook "validate.example.com" denied the request without explanation`},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			c := client(t, s.Config())
			cms := c.CoreV1().ConfigMaps("default")
			if _, err := cms.Create(t.Context(), configMap("old", "1"), metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			newHookServer(t, test.answer).install(t, c, hookRule("CREATE,UPDATE,DELETE", "", "*"), nil)
			before := s.state.Version()
			_, created := cms.Create(t.Context(), configMap("new", "1"), metav1.CreateOptions{})
			_, updated := cms.Update(t.Context(), configMap("old", "2"), metav1.UpdateOptions{})
			deleted := cms.Delete(t.Context(), "old", metav1.DeleteOptions{})
			for _, err := range []error{created, updated, deleted} {
				status := new(errors.StatusError)
				if !stderrors.As(err, &status) || status.ErrStatus.Code != test.code || status.ErrStatus.Message != test.want {
					t.Errorf("got %#v", err)
				}
			}
			if s.state.Version() != before {
				t.Error("the denied request stored something")
			}
		})
	}
}

func TestWebhookFails(t *testing.T) {
	ignore := admissionregistrationv1.Ignore
	broken := func(h *admissionregistrationv1.ValidatingWebhook) { h.ClientConfig.CABundle = nil }
	for name, test := range map[string]struct {
		change func(*admissionregistrationv1.ValidatingWebhook)
		want   string // empty: the write succeeds
	}{
		"unknown authority": {broken, `Internal error occurred: failed calling webhook "validate.example.com": failed to call webhook: Post "https://`},
		"refused":           {func(h *admissionregistrationv1.ValidatingWebhook) { *h.ClientConfig.URL = "https://127.0.0.1:1/check" }, "connect: connection refused"},
		"not a webhook":     {func(h *admissionregistrationv1.ValidatingWebhook) { *h.ClientConfig.URL += "/else" }, "failed to call webhook: "},
		"no such service": {func(h *admissionregistrationv1.ValidatingWebhook) {
			h.ClientConfig.URL, h.ClientConfig.Service = nil, &admissionregistrationv1.ServiceReference{Namespace: "default", Name: "hook"}
		}, `service "default/hook" not found`},
		"ignored": {func(h *admissionregistrationv1.ValidatingWebhook) { broken(h); h.FailurePolicy = &ignore }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			c := client(t, s.Config())
			newHookServer(t, allow).install(t, c, hookRule("CREATE", "", "configmaps"), test.change)
			_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (!errors.IsInternalError(err) || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWebhookTimesOut(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := client(t, s.Config())
	release := make(chan struct{})
	h := newHookServer(t, func(q *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse { <-release; return allow(q) })
	h.install(t, c, hookRule("CREATE", "", "configmaps"), func(h *admissionregistrationv1.ValidatingWebhook) { h.TimeoutSeconds = new(int32(1)) })
	_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	close(release)
	if !errors.IsInternalError(err) || !strings.Contains(err.Error(), "timeout=1s") {
		t.Errorf("got %v", err)
	}
}

func TestWebhookSelects(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	h := newHookServer(t, allow)
	h.install(t, c, hookRule("CREATE", "", "configmaps"), func(h *admissionregistrationv1.ValidatingWebhook) {
		h.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": "default"}}
		h.ObjectSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"v": "1"}}
	})
	for _, try := range []struct {
		namespace, v string
		asked        int
	}{{"default", "1", 1}, {"default", "2", 0}, {"kube-system", "1", 0}} {
		if _, err := c.CoreV1().ConfigMaps(try.namespace).Create(t.Context(), configMap("a"+try.v, try.v), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if n := len(h.questions()); n != try.asked {
			t.Errorf("%+v: called %d times", try, n)
		}
	}
}

// A webhook gets the first of its versions that the server supports, and answers in it.
func TestReviewVersions(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	h := newHookServer(t, deny(403, "heard"))
	h.install(t, c, hookRule("CREATE", "", "configmaps"), func(h *admissionregistrationv1.ValidatingWebhook) {
		h.AdmissionReviewVersions = []string{"v7", "v1beta1", "v1"}
	})
	if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", ""), metav1.CreateOptions{}); !errors.IsForbidden(err) || h.version != "admission.k8s.io/v1beta1" {
		t.Errorf("the response in version %s: %v", h.version, err)
	}
}

// A webhook gets the options of a deletion; for a collection, it gets no object names.
func TestWebhookIsCalledForDeletions(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	h := newHookServer(t, allow)
	h.install(t, c, hookRule("DELETE", "", "configmaps"), nil)
	cms := c.CoreV1().ConfigMaps("default")
	for _, name := range []string{"a", "b"} {
		if _, err := cms.Create(t.Context(), configMap(name, ""), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	background := metav1.DeletePropagationBackground
	if err := cms.Delete(t.Context(), "a", metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		t.Fatal(err)
	}
	if asked := h.questions(); len(asked) != 1 || asked[0].Name != "a" || !strings.Contains(string(asked[0].Options.Raw), `"propagationPolicy":"Background"`) {
		t.Errorf("reviews of a deletion: %+v", asked)
	}
	if err := cms.DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	if asked := h.questions(); len(asked) != 1 || asked[0].Name != "" || len(asked[0].OldObject.Raw) == 0 {
		t.Errorf("reviews of a deleted collection: %+v", asked)
	}
}

func TestWebhookWarns(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	h := newHookServer(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, Warnings: []string{"think again"}}
	})
	h.install(t, c, hookRule("CREATE", "", "configmaps"), nil)
	raw := rawWire{wire{t, s.URL()}}
	resp := raw.send("POST", cmPath, "application/json", `{"metadata":{"name":"a"}}`)
	if resp.StatusCode != 201 || resp.Header.Get("Warning") != `299 - "think again"` {
		t.Errorf("%s, warning %q", resp.Status, resp.Header.Get("Warning"))
	}
}

// A webhook behind a Service is called at the address that the resolver returns, under the
// Service's name, for which it must have a certificate.
func TestWebhookBehindService(t *testing.T) {
	h := newHookServer(t, deny(0, "no"))
	s := startWith(t, Options{HTTP: "127.0.0.1:0", ResolveService: func(namespace, name string, port int32) (string, error) {
		if namespace != "default" || port != 443 {
			return "", fmt.Errorf("service %s/%s:%d not found", namespace, name, port)
		}
		u, err := url.Parse(h.URL)
		return u.Host, err
	}})
	certify(t, h, "hook.default.svc")
	c := client(t, s.Config())
	for name, want := range map[string]string{"hook": "denied the request: no", "other": "certificate is valid for hook.default.svc, not other.default.svc"} {
		t.Run(name, func(t *testing.T) {
			h.install(t, c, hookRule("CREATE", "", "configmaps"), func(w *admissionregistrationv1.ValidatingWebhook) {
				w.ClientConfig.URL = nil
				w.ClientConfig.Service = &admissionregistrationv1.ServiceReference{Namespace: "default", Name: name, Path: new("/check")}
			})
			_, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v", err)
			}
			if err := c.AdmissionregistrationV1().ValidatingWebhookConfigurations().Delete(t.Context(), "check", metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// certify gives the server a certificate for host from its own authority.
func certify(t *testing.T, h *hookServer, host string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{host},
		IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	h.Close()
	server := httptest.NewUnstartedServer(h.Config.Handler)
	server.Config.ErrorLog = h.Config.ErrorLog
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	t.Cleanup(server.Close)
	h.Server = server
}

func TestMutatingWebhookPatches(t *testing.T) {
	s := start(t)
	c := client(t, s.Config())
	define(t, s, widgetDefinition)
	jsonPatch := admissionv1.PatchTypeJSONPatch
	h := newHookServer(t, func(*admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
		return &admissionv1.AdmissionResponse{Allowed: true, PatchType: &jsonPatch, Patch: []byte(`[{"op":"add","path":"/metadata/annotations","value":{"seen":"yes"}}]`)}
	})
	none := admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "change"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{Name: "change.example.com", ClientConfig: h.clientConfig(), SideEffects: &none,
			AdmissionReviewVersions: []string{"v1"}, Rules: []admissionregistrationv1.RuleWithOperations{hookRule("*", "*", "*")}}}}
	if _, err := c.AdmissionregistrationV1().MutatingWebhookConfigurations().Create(t.Context(), configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var cm *corev1.ConfigMap
	cm, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
	if err != nil || cm.Annotations["seen"] != "yes" {
		t.Errorf("created %v, %v", cm, err)
	}
	cm.Annotations = nil
	if cm, err = c.CoreV1().ConfigMaps("default").Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil || cm.Annotations["seen"] != "yes" {
		t.Errorf("updated %v, %v", cm, err)
	}
	w, err := dynamicClient(t, s.Config()).Resource(widgets).Namespace("default").Create(t.Context(), widget("a", "1"), metav1.CreateOptions{})
	if err != nil || w.GetAnnotations()["seen"] != "yes" {
		t.Errorf("created %v, %v", w, err)
	}
}
