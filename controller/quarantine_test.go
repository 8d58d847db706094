package controller_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// broken is a snippet that nginx rejects and that denies no access.
const broken = "add_header;"

// on returns an ingress for paths of a host and the service web. annotations are pairs of names and
// values.
func on(name, host string, paths []string, annotations ...string) *networkingv1.Ingress {
	ingress := withSnippet(name, "")
	ingress.Annotations = make(map[string]string)
	for pair := range slices.Chunk(annotations, 2) {
		ingress.Annotations["nginx.ingress.kubernetes.io/"+pair[0]] = pair[1]
	}
	rule := &ingress.Spec.Rules[0]
	rule.Host = host
	first := rule.HTTP.Paths[0]
	rule.HTTP.Paths = nil
	for _, path := range paths {
		next := first
		next.Path = path
		rule.HTTP.Paths = append(rule.HTTP.Paths, next)
	}
	return ingress
}

// awaitPath requests a path from nginx until the answer begins with want.
func (r *running) awaitPath(host, path, want string) {
	r.Helper()
	var got string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if got = r.get(r.ports.HTTP, host, path); strings.HasPrefix(got, want) {
			return
		}
	}
	r.Fatalf("%s%s answers %q, want %q", host, path, got, want)
}

func (r *running) removeIngress(name string) {
	r.Helper()
	r.must(r.client.NetworkingV1().Ingresses("default").Delete(r.Context(), name, metav1.DeleteOptions{}))
}

func snippets(r *running) {
	r.configure(snippetsAllowed, r.client.CoreV1().ConfigMaps("default").Update)
	r.service(pod(r.T, "127.88.0.1", "one"))
}

// In place of a rejected version, nginx serves no version that protects less.
func TestQuarantineProtectsNoLess(t *testing.T) {
	t.Parallel()
	r := launch(t, true, snippets)
	r.awaitHost("web.example", "one")
	const denied = "198.51.100.0/24"
	for name, asked := range map[string][]string{
		"external-auth":  {"auth-url", "http://127.0.0.1:1/"},
		"allow-list":     {"allowlist-source-range", denied},
		"deny-list":      {"denylist-source-range", "127.0.0.0/8"},
		"client-cert":    {"auth-tls-secret", "default/none"},
		"https":          {"force-ssl-redirect", "true"},
		"rate":           {"limit-rpm", "1"},
		"snippet":        {"configuration-snippet", "deny all; " + broken},
		"server-snippet": {"server-snippet", "deny all; " + broken},
	} {
		host := name + ".example"
		bad := asked
		if !strings.HasSuffix(asked[1], broken) {
			bad = append(slices.Clone(asked), "configuration-snippet", broken)
		}
		r.addIngress(on(name, host, []string{"/"}))
		r.addIngress(on(name+"-beside", host, []string{"/beside"}))
		r.awaitPath(host, "/", "one")
		r.awaitPath(host, "/beside", "one")
		r.changeIngress(on(name, host, []string{"/"}, bad...))
		r.awaitPath(host, "/", "503")
		wholeHost := name == "client-cert" || name == "server-snippet"
		if got := r.get(r.ports.HTTP, host, "/beside"); strings.HasPrefix(got, "503") != wholeHost {
			t.Errorf("%s: another ingress of the host answers %q", name, got)
		}
		r.removeIngress(name)
		r.removeIngress(name + "-beside")
	}
}

// If nginx rejects a new ingress, its paths are not served by another ingress that protects less.
func TestQuarantineLeavesNoPathToOthers(t *testing.T) {
	t.Parallel()
	r := launch(t, true, snippets)
	r.awaitHost("web.example", "one")
	r.addIngress(on("admin", "web.example", []string{"/admin"}, "auth-url", "http://127.0.0.1:1/", "configuration-snippet", broken))
	r.awaitPath("web.example", "/admin", "503")
	r.awaitPath("web.example", "/", "one")
	r.addIngress(on("pattern", "web.example", []string{"/secret/[0-9]+"}, "use-regex", "true", "auth-url", "http://127.0.0.1:1/", "configuration-snippet", broken))
	r.awaitPath("web.example", "/secret/5", "503")
	r.awaitPath("web.example", "/secret/x", "one")

	// An earlier version that protects no less stays, and the new paths are closed.
	r.addIngress(on("app", "app.example", []string{"/"}, "proxy-body-size", "2m"))
	r.awaitPath("app.example", "/", "one")
	r.changeIngress(on("app", "app.example", []string{"/", "/new"}, "configuration-snippet", broken))
	r.awaitPath("app.example", "/new", "503")
	r.awaitPath("app.example", "/", "one")
}

// This also applies to versions that are rejected only because of their annotations.
func TestUnacceptedVersionsProtectNoLess(t *testing.T) {
	t.Parallel()
	r := launch(t, true, snippets)
	r.addIngress(on("app", "app.example", []string{"/"}))
	r.awaitPath("app.example", "/", "one")
	r.changeIngress(on("app", "app.example", []string{"/"}, "allowlist-source-range", "198.51.100.0/24", "permanent-redirect-code", "many"))
	r.awaitPath("app.example", "/", "503")
	r.changeIngress(on("app", "app.example", []string{"/"}, "permanent-redirect-code", "many"))
	r.awaitPath("app.example", "/", "one")
	// nginx has rejected nothing, so the metric of reloads raises no alarm.
	if line := metric(r.get(r.ports.Health, "", "/metrics"), "config_last_reload_successful"); !strings.HasSuffix(line, " 1") {
		t.Errorf("metric %q, want 1", line)
	}
	r.addIngress(on("admin", "app.example", []string{"/admin"}, "permanent-redirect-code", "many"))
	r.awaitPath("app.example", "/admin", "503")
	r.changeIngress(on("admin", "app.example", []string{"/admin"}))
	r.awaitPath("app.example", "/admin", "one")
}

// A rejected ingress is tested again when the object that it conflicted with changes.
func TestQuarantineEndsWithTheCollision(t *testing.T) {
	t.Parallel()
	r := launch(t, true, snippets)
	r.addIngress(on("squatter", "app.example", []string{"/squat"}, "server-snippet", `location = "/app-status" { return 204; }`))
	r.awaitPath("app.example", "/app-status", "204")
	exact := on("exact", "app.example", []string{"/app-status"})
	exact.Spec.Rules[0].HTTP.Paths[0].PathType = new(networkingv1.PathTypeExact)
	r.addIngress(exact)
	if event := r.awaitRejection("exact"); !strings.Contains(event, "duplicate location") {
		t.Errorf("Event %q", event)
	}
	r.removeIngress("squatter")
	r.awaitPath("app.example", "/app-status", "one")
}

// If a module is too old for an option, nginx rejects only the new version of the ingress. The rest
// of the host stays, and the finding names the module.
func TestModuleThatIsTooOld(t *testing.T) {
	t.Parallel()
	r := launch(t, true, snippets)
	r.addIngress(on("app", "app.example", []string{"/"}))
	r.addIngress(on("beside", "app.example", []string{"/beside"}))
	r.awaitPath("app.example", "/beside", "one")
	r.changeIngress(on("app", "app.example", []string{"/"}, "configuration-snippet", `more_set_headers -no-such-option "X: y";`))
	if event := r.awaitRejection("app"); !strings.Contains(event, "headers_more") {
		t.Errorf("Event %q", event)
	}
	r.awaitPath("app.example", "/", "one")
	r.awaitPath("app.example", "/beside", "one")
}

// While nginx keeps its configuration because of a rejected key, endpoints are still updated, and
// requests reach pods.
func TestEndpointsAreUpdatedWhileAKeyIsRejected(t *testing.T) {
	t.Parallel()
	r := launch(t, true, snippets)
	r.addIngress(on("gone", "gone.example", []string{"/"}))
	r.awaitHost("gone.example", "one")
	update := r.client.CoreV1().ConfigMaps("default").Update
	r.configure(map[string]string{"server-snippet": "deny 192.0.2.0/240;"}, update) // a typing error
	if event := r.awaitEvent("ConfigMap", "Refused"); !strings.Contains(event.Message, "nginx keeps its configuration") {
		t.Errorf("got %+v", event)
	}
	r.removeIngress("gone")
	r.addIngress(on("new", "new.example", []string{"/"}))
	r.move(pod(t, "127.88.0.2", "two"))
	r.awaitHost("web.example", "two")
	r.awaitHost("gone.example", "two")
	r.awaitHost("new.example", "404") // if served, it would lack the rules of the key
	r.configure(map[string]string{"server-snippet": "deny 192.0.2.0/24;"}, update)
	r.awaitHost("gone.example", "404")
	r.awaitHost("new.example", "two")
}

// nginx accepted an ingress, but rejects it after a change of a file that it names. Only this
// ingress answers 503.
func TestFileOfAnIngressBreaksNginx(t *testing.T) {
	t.Parallel()
	rules := filepath.Join(t.TempDir(), "rules")
	write := func(text string) {
		if err := os.WriteFile(rules, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("allow 127.0.0.1; deny all;")
	r := launch(t, true, snippets)
	for _, name := range []string{"a", "b", "c"} {
		r.addIngress(on(name, name+".example", []string{"/"}))
	}
	r.addIngress(on("app", "app.example", []string{"/"}, "configuration-snippet", "include "+rules+";"))
	r.awaitHost("app.example", "one")
	write("deny all")
	r.addIngress(on("beside", "beside.example", []string{"/"}))
	r.awaitHost("app.example", "503")
	r.awaitHost("beside.example", "one")
	for _, host := range []string{"a.example", "b.example", "c.example"} {
		r.awaitHost(host, "one")
	}
	write("allow 127.0.0.1; deny all;")
	r.addIngress(on("sign", "app.example", []string{"/sign"})) // changes its surroundings
	r.awaitHost("app.example", "one")
}
