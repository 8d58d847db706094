package controller_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var snippetsAllowed = map[string]string{"allow-snippet-annotations": "true", "annotations-risk-level": "Critical"}

// withSnippet returns an ingress for its own host and the service web, with a snippet in its
// location.
func withSnippet(name, snippet string) *networkingv1.Ingress {
	class, prefix := "nginx", networkingv1.PathTypePrefix
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	if snippet != "" {
		ingress.Annotations = map[string]string{"nginx.ingress.kubernetes.io/configuration-snippet": snippet}
	}
	ingress.Spec = networkingv1.IngressSpec{IngressClassName: &class, Rules: []networkingv1.IngressRule{{
		Host: name + ".example",
		IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
			Path: "/", PathType: &prefix,
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}},
		}}}},
	}}}
	return ingress
}

func (r *running) addIngress(ingress *networkingv1.Ingress) {
	r.Helper()
	_, err := r.client.NetworkingV1().Ingresses("default").Create(r.Context(), ingress, metav1.CreateOptions{})
	r.must(err)
}

func (r *running) changeIngress(ingress *networkingv1.Ingress) {
	r.Helper()
	_, err := r.client.NetworkingV1().Ingresses("default").Update(r.Context(), ingress, metav1.UpdateOptions{})
	r.must(err)
}

// awaitHost requests a host from nginx until the answer is the wanted one.
func (r *running) awaitHost(host, want string) {
	r.Helper()
	var got string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = r.get(r.ports.HTTP, host, "/"); strings.HasPrefix(got, want) {
			return
		}
	}
	r.Fatalf("%s answers %q, want %q", host, got, want)
}

// awaitRejection returns the message of the Warning on an ingress that nginx rejects.
func (r *running) awaitRejection(name string) string {
	r.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		events, err := r.client.CoreV1().Events("default").List(r.Context(), metav1.ListOptions{})
		r.must(err)
		for _, event := range events.Items {
			if event.InvolvedObject.Kind == "Ingress" && event.InvolvedObject.Name == name && event.Reason == "Refused" {
				return event.Message
			}
		}
	}
	r.Fatalf("no Event on ingress %s", name)
	return ""
}

func rejected(sync record) bool { return strings.Contains(sync.Error, "[emerg]") }

func TestSnippetThatBreaksNginx(t *testing.T) {
	t.Parallel()
	r := launch(t, true, func(r *running) {
		r.configure(snippetsAllowed, r.client.CoreV1().ConfigMaps("default").Update)
		r.service(pod(t, "127.88.0.1", "one"))
		r.addIngress(withSnippet("early", "no_such_directive_either on;")) // from the very start
	})
	r.awaitHost("web.example", "one")
	if event := r.awaitRejection("early"); !strings.Contains(event, `"no_such_directive_either"`) || !strings.Contains(event, "its requests get 503") {
		t.Errorf("Event %q", event)
	}
	if got := r.get(r.ports.HTTP, "early.example", "/"); !strings.HasPrefix(got, "503") {
		t.Errorf("the host of the rejected ingress answers %q", got)
	}

	// If a good ingress becomes bad, the good version is served. Simultaneous and later changes of
	// others are served.
	r.addIngress(withSnippet("changing", "add_header X-Good 1;"))
	r.awaitHost("changing.example", "one")
	r.changeIngress(withSnippet("changing", "add_header no_such_directive;"))
	r.addIngress(withSnippet("beside", ""))
	r.awaitSync(rejected)
	r.awaitHost("beside.example", "one")
	r.awaitHost("changing.example", "one")
	if event := r.awaitRejection("changing"); !strings.Contains(event, "earlier version") {
		t.Errorf("Event %q", event)
	}
	r.addIngress(withSnippet("after", ""))
	r.awaitHost("after.example", "one")
	if got := r.get(r.ports.Health, "", "/metrics"); !strings.Contains(got, "config_last_reload_successful{") || !strings.Contains(metric(got, "config_last_reload_successful"), " 0") {
		t.Errorf("metric %q, want 0", metric(got, "config_last_reload_successful"))
	}

	// After a correction, both ingresses are served as written.
	r.changeIngress(withSnippet("early", ""))
	r.changeIngress(withSnippet("changing", ""))
	r.awaitHost("early.example", "one")
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		if line := metric(r.get(r.ports.Health, "", "/metrics"), "config_last_reload_successful"); strings.HasSuffix(line, " 1") {
			break
		} else if time.Now().After(end) {
			t.Fatalf("metric %q, want 1", line)
		}
	}
}

// metric returns the line of a metric without further labels.
func metric(page, name string) string {
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "nginx_ingress_controller_"+name+"{") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// A key of the ConfigMap can also break nginx. Everything else is served.
func TestConfigMapKeyThatBreaksNginx(t *testing.T) {
	t.Parallel()
	const main = "worker_priority no_such_priority;" // denies no access
	r := launch(t, true, func(r *running) { r.service(pod(t, "127.88.0.1", "one")) })
	r.awaitHost("web.example", "one")
	r.configure(map[string]string{"main-snippet": main, "hsts": "false"}, r.client.CoreV1().ConfigMaps("default").Update)
	if event := r.awaitEvent("ConfigMap", "Refused"); !strings.Contains(event.Message, "main-snippet: nginx rejects it") || !strings.Contains(event.Message, "or its default, is used") {
		t.Errorf("Event %+v", event)
	}
	wantHeader := func(want string) {
		t.Helper()
		for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
			response, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d/", r.ports.HTTP))
			r.must(err)
			response.Body.Close()
			if got := response.Header.Get("X-Of-All"); got == want {
				return
			} else if time.Now().After(end) {
				t.Fatalf("header %q, want %q", got, want)
			}
		}
	}

	// If a good value becomes bad, the good one stays in use. Simultaneous and later changes are
	// served.
	update := r.client.CoreV1().ConfigMaps("default").Update
	r.configure(map[string]string{"main-snippet": main, "server-snippet": "add_header X-Of-All first always;"}, update)
	wantHeader("first")
	r.configure(map[string]string{"main-snippet": main, "server-snippet": "add_header X-Of-All second always; add_header;", "hsts": "false"}, update)
	r.addIngress(withSnippet("beside", ""))
	r.awaitHost("beside.example", "one")
	r.addIngress(withSnippet("after", ""))
	r.awaitHost("after.example", "one")
	wantHeader("first")
	if line := metric(r.get(r.ports.Health, "", "/metrics"), "config_last_reload_successful"); !strings.HasSuffix(line, " 0") {
		t.Errorf("metric %q, want 0", line)
	}

	// After a correction, it is used.
	r.configure(map[string]string{"server-snippet": "add_header X-Of-All third always;"}, update)
	wantHeader("third")
	events, err := r.client.CoreV1().Events("default").List(context.Background(), metav1.ListOptions{})
	r.must(err)
	for _, event := range events.Items {
		if event.Reason == "Refused" && event.InvolvedObject.Kind != "ConfigMap" {
			t.Errorf("Event on %s %s: %s", event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Message)
		}
	}
}

// At the start there is no accepted value of a key. A rejected key may deny access, so nothing is
// served until it is corrected.
func TestKeyThatBreaksNginxAtTheStart(t *testing.T) {
	t.Parallel()
	rules := func(denied string) map[string]string {
		return map[string]string{"server-snippet": "deny 127.0.0.1; deny " + denied + ";"}
	}
	r := launch(t, true, func(r *running) {
		r.configure(rules("192.0.2.0/240"), r.client.CoreV1().ConfigMaps("default").Update) // a typing error
		r.service(pod(t, "127.88.0.1", "one"))
	})
	if event := r.awaitEvent("ConfigMap", "Refused"); !strings.Contains(event.Message, "server-snippet: nginx rejects it") || !strings.Contains(event.Message, "nginx keeps its configuration") {
		t.Errorf("Event %+v", event)
	}
	failed := r.awaitSync(func(line record) bool {
		return strings.Contains(line.Error, "nginx rejects a key that nothing can replace")
	})
	if !strings.Contains(failed.Error, "ConfigMap default/controller") || !strings.Contains(failed.Error, "server-snippet") {
		t.Errorf("failed sync %+v", failed)
	}
	// Other changes are not served either.
	r.addIngress(withSnippet("beside", ""))
	r.awaitSync(func(line record) bool { return line.Error != "" })
	for _, host := range []string{"web.example", "beside.example"} {
		if got := r.get(r.ports.HTTP, host, "/"); strings.HasPrefix(got, "one") {
			t.Errorf("%s is served without the access rules: %q", host, got)
		}
	}
	if got := r.get(r.ports.Health, "", "/healthz"); !strings.HasPrefix(got, "500") {
		t.Errorf("the controller reports that it is healthy: %q", got)
	}

	r.configure(rules("192.0.2.0/24"), r.client.CoreV1().ConfigMaps("default").Update)
	r.awaitHost("web.example", "403")
	r.configure(nil, r.client.CoreV1().ConfigMaps("default").Update)
	r.awaitHost("web.example", "one")
}

// A file that a key names can break nginx, and be corrected, without a change of the key.
func TestKeyWhoseFileBreaksNginx(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules")
	write := func(text string) {
		if err := os.WriteFile(rules, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("deny 127.0.0.1;")
	r := launch(t, true, func(r *running) {
		r.configure(map[string]string{"server-snippet": "include " + rules + ";"}, r.client.CoreV1().ConfigMaps("default").Update)
		r.service(pod(t, "127.88.0.1", "one"))
	})
	r.awaitHost("web.example", "403")
	write("deny all")
	r.addIngress(withSnippet("beside", ""))
	r.awaitSync(func(line record) bool {
		return strings.Contains(line.Error, "nginx rejects a key that nothing can replace")
	})
	r.awaitHost("web.example", "403")
	write("allow 127.0.0.1; deny all;")
	r.addIngress(withSnippet("after", ""))
	r.awaitHost("web.example", "one")
	r.awaitHost("beside.example", "one")
}

// A key lets in an ingress that breaks nginx. nginx then rejects the ingress, not the key.
func TestIngressThatTheConfigMapAdmits(t *testing.T) {
	t.Parallel()
	r := launch(t, true, func(r *running) {
		r.configure(map[string]string{"annotations-risk-level": "Critical"}, r.client.CoreV1().ConfigMaps("default").Update)
		r.service(pod(t, "127.88.0.1", "one"))
		r.addIngress(withSnippet("bad", "no_such_directive on;"))
		r.addIngress(withSnippet("good", "add_header X-Good 1;"))
	})
	r.awaitHost("bad.example", "one") // served without its snippet
	r.configure(snippetsAllowed, r.client.CoreV1().ConfigMaps("default").Update)
	if event := r.awaitRejection("bad"); !strings.Contains(event, "no_such_directive") {
		t.Errorf("Event %q", event)
	}
	r.awaitHost("bad.example", "503")
	r.awaitHost("good.example", "one")
}
