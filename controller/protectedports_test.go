package controller_test

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
	"windtunnel.dev/internal/nginxtest"
)

// protectedPorts returns the controller's own ports, which ingresses must not reach, each with a
// path that answers 200 inside the pod.
func (r *running) protectedPorts() map[string]struct {
	port int
	path string
} {
	return map[string]struct {
		port int
		path string
	}{
		"status":   {r.ports.Status, "/configuration/backends"},
		"stream":   {r.ports.Stream, "/"},
		"health":   {r.ports.Health, "/healthz/ping"},
		"profiler": {r.ports.Profiler, "/debug/pprof/cmdline"},
	}
}

// withProtectedPorts launches a controller with all these ports. The name inside.test resolves to
// loopback in Lua and in nginx.
func withProtectedPorts(t *testing.T, create func(*running)) *running {
	t.Helper()
	names := serveNames(t, map[string]string{"inside.test.": "127.0.0.1"})
	profiler := listenOutsideEphemeral(t)
	port := profiler.Addr().(*net.TCPAddr).Port
	return launchAs(t, true, func(c *controller.Config) {
		c.Lua, c.Profiler, c.Options.Ports.Profiler = names.lua(t), profiler, port
	}, func(r *running) {
		r.ports.Profiler = port
		r.configure(map[string]string{
			"server-snippet": fmt.Sprintf("resolver %s valid=1s;", names.LocalAddr()), "use-http2": "false", "custom-http-errors": "418",
		}, r.client.CoreV1().ConfigMaps("default").Update)
		create(r)
	})
}

func TestNoIngressReachesThePortsOfTheController(t *testing.T) {
	t.Parallel()
	var mirrored func() string // the internal location of a mirror
	r := withProtectedPorts(t, func(r *running) {
		r.deploy("plain", serve(t, "127.89.1.1", echo("plain")))
		r.deploy("teapot", serve(t, "127.89.1.2", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })))
		r.deploy("inward", serve(t, "127.89.1.3", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Accel-Redirect", mirrored())
		})))
		r.deploy("nobody")
		for name, target := range r.protectedPorts() {
			loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: target.port}
			r.deploy("at-"+name, loopback)
			r.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "named-" + name}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "inside.test"}})
			for _, protocol := range []string{"HTTP", "HTTPS", "AUTO_HTTP", "GRPC", "FCGI"} {
				id := name + "-" + strings.ToLower(strings.ReplaceAll(protocol, "_", "-"))
				r.route("slice-"+id, "slice-"+id+".example", "/", "at-"+name, "backend-protocol", protocol)
				r.routePort("named-"+id, "named-"+id+".example", "/", "named-"+name, int32(target.port), "backend-protocol", protocol)
			}
			url := fmt.Sprintf("http://inside.test:%d%s", target.port, target.path)
			literal := fmt.Sprintf("http://127.0.0.1:%d%s", target.port, target.path)
			r.route("fallback-"+name, "fallback-"+name+".example", "/", "nobody", "default-backend", "at-"+name)
			r.route("errors-"+name, "errors-"+name+".example", "/", "teapot", "custom-http-errors", "418", "default-backend", "at-"+name)
			r.route("auth-literal-"+name, "auth-literal-"+name+".example", "/", "plain", "auth-url", literal)
			r.route("auth-name-"+name, "auth-name-"+name+".example", "/", "plain", "auth-url", url)
			r.route("auth-var-"+name, "auth-var-"+name+".example", "/", "plain", "auth-url", "http://$http_x_to"+target.path)
			r.route("auth-kept-"+name, "auth-kept-"+name+".example", "/", "plain", "auth-url", url, "auth-keepalive", "5")
			r.route("mirror-literal-"+name, "mirror-literal-"+name+".example", "/", "plain", "mirror-target", literal)
			r.route("mirror-name-"+name, "mirror-name-"+name+".example", "/", "plain", "mirror-target", url)
			r.route("mirror-var-"+name, "mirror-var-"+name+".example", "/", "plain", "mirror-target", "http://inside.test:$http_x_port"+target.path)
			r.route("read-"+name, "read-"+name+".example", "/", "inward", "mirror-target", url)
		}
	})
	conf := filepath.Join(r.root, "etc/nginx/nginx.conf")
	source := regexp.MustCompile(`(?s)## start server read-status\.example.*?\n\s*mirror "([^"]+)"`)
	mirrored = func() string {
		text, _ := os.ReadFile(conf)
		return string(source.FindSubmatch(text)[1])
	}
	r.log.next("ready")
	backends := r.inside(http.MethodGet, r.ports.Status, "/configuration/backends", "").body
	for name, target := range r.protectedPorts() {
		to := fmt.Sprintf("127.0.0.1:%d", target.port)
		refused := func(kind string, statuses ...int) {
			t.Helper()
			host := kind + "-" + name + ".example"
			got := r.ask(host, target.path, "X-To", to)
			for _, status := range statuses {
				if got.StatusCode == status {
					return
				}
			}
			t.Errorf("%s: status %d, want one of %v; %.100s", host, got.StatusCode, statuses, got.body)
		}
		for _, protocol := range []string{"http", "https", "auto-http", "grpc", "fcgi"} {
			got := r.ask("slice-"+name+"-"+protocol+".example", target.path)
			if got.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("an endpoint, %s over %s: status %d, want 503; %.100s", name, protocol, got.StatusCode, got.body)
			}
			got = r.ask("named-"+name+"-"+protocol+".example", target.path)
			if got.StatusCode != http.StatusServiceUnavailable {
				t.Errorf("a name, %s over %s: status %d, want 503; %.100s", name, protocol, got.StatusCode, got.body)
			}
		}
		refused("fallback", http.StatusServiceUnavailable)
		refused("errors", http.StatusTeapot, http.StatusServiceUnavailable, http.StatusNotFound)
		refused("auth-literal", http.StatusServiceUnavailable)
		refused("auth-name", http.StatusForbidden, http.StatusInternalServerError)
		refused("auth-var", http.StatusForbidden, http.StatusInternalServerError)
		refused("auth-kept", http.StatusInternalServerError)
		for _, kind := range []string{"mirror-literal", "mirror-name", "mirror-var"} {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d%s", r.ports.HTTP, target.path), strings.NewReader("[]"))
			r.must(err)
			request.Host = kind + "-" + name + ".example"
			request.Header.Set("X-Port", fmt.Sprint(target.port))
			response, err := nginxtest.Repeating(http.DefaultTransport).RoundTrip(request)
			r.must(err)
			io.Copy(io.Discard, response.Body) // the body ends after the mirrored requests are answered
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Errorf("%s: the request itself: %s", request.Host, response.Status)
			}
		}
	}
	if got := r.ask("read-status.example", "/"); got.StatusCode != http.StatusForbidden || strings.Contains(got.body, "endpoints") {
		t.Errorf("the answer of a mirror, read through X-Accel-Redirect: status %d, want 403; %.100s", got.StatusCode, got.body)
	}
	if after := r.inside(http.MethodGet, r.ports.Status, "/configuration/backends", "").body; after != backends {
		t.Errorf("the backends are now %.100s", after)
	}
}

// inside sends a request to a loopback port, like a tool in the pod.
func (r *running) inside(method string, port int, path, body string, headers ...string) reply {
	r.Helper()
	request, err := http.NewRequestWithContext(r.Context(), method, fmt.Sprintf("http://127.0.0.1:%d%s", port, path), strings.NewReader(body))
	r.must(err)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := nginxtest.Repeating(http.DefaultTransport).RoundTrip(request)
	r.must(err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	r.must(err)
	return reply{response, string(text)}
}

func TestToolsInThePodNeedNoSecret(t *testing.T) {
	t.Parallel()
	r := withProtectedPorts(t, func(r *running) { r.service(pod(t, "127.89.2.1", "one")) })
	r.log.next("ready")
	for _, path := range []string{"/configuration/backends", "/configuration/workers", "/is-dynamic-lb-initialized", "/healthz", "/nginx_status"} {
		if got := r.inside(http.MethodGet, r.ports.Status, path, ""); got.StatusCode != http.StatusOK {
			t.Errorf("GET %s: %s", path, got.Status)
		}
		for _, mark := range []string{"X-Forwarded-For", "X-Real-IP", "X-Sent-From"} {
			if got := r.inside(http.MethodGet, r.ports.Status, path, "", mark, "0"); got.StatusCode != http.StatusForbidden {
				t.Errorf("GET %s, proxied: %s", path, got.Status)
			}
		}
	}
	for _, path := range []string{"/configuration/backends", "/configuration/servers", "/configuration/general"} {
		if got := r.inside(http.MethodPost, r.ports.Status, path, "[]"); got.StatusCode != http.StatusForbidden {
			t.Errorf("POST %s: %s", path, got.Status)
		}
	}
}

// The secret is only in its file, which others cannot read, and in Lua.
func TestSecretDoesNotLeak(t *testing.T) {
	t.Parallel()
	r := withProtectedPorts(t, func(r *running) {
		r.configure(map[string]string{"error-log-level": "debug"}, r.client.CoreV1().ConfigMaps("default").Update)
		r.service(serve(t, "127.89.3.1", echo("one")))
	})
	r.log.next("ready")
	path := filepath.Join(r.root, "etc/nginx/lua/secret")
	info, err := os.Stat(path)
	r.must(err)
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file's mode is %v", mode)
	}
	text, err := os.ReadFile(path)
	r.must(err)
	secret := strings.TrimSpace(string(text))
	if len(secret) < 20 {
		t.Fatalf("a secret of %d characters", len(secret))
	}
	if got := r.inside(http.MethodPost, r.ports.Status, "/configuration/general", "{}", "Authorization", "Bearer "+secret); got.StatusCode != http.StatusCreated {
		t.Errorf("a POST with the secret: %s", got.Status)
	}
	if got := r.ask("web.example", "/"); got.StatusCode != http.StatusOK || strings.Contains(got.body, secret) {
		t.Errorf("a pod received the secret: %s", got.body)
	}
	r.must(filepath.WalkDir(r.root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || file == path {
			return err
		}
		text, err := os.ReadFile(file)
		if os.IsNotExist(err) {
			return nil // a temporary file
		}
		if strings.Contains(string(text), secret) {
			t.Errorf("%s contains the secret", file)
		}
		return err
	}))
}
