package metrics

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

var identity = Identity{Namespace: "ingress-nginx", Class: "k8s.io/ingress-nginx", Pod: "controller-0"}

const labels = `{controller_class="k8s.io/ingress-nginx",controller_namespace="ingress-nginx",controller_pod="controller-0"}`

func TestReloads(t *testing.T) {
	m := New(identity, Build{Release: "v1", Commit: "abc", Repository: "windtunnel.dev"}, true)
	want := func(lines ...string) {
		t.Helper()
		text := scrape(m)
		for _, line := range lines {
			if !strings.Contains(text, "\nnginx_ingress_controller_"+line+"\n") {
				t.Errorf("no %q in\n%s", line, text)
			}
		}
	}
	want("success"+labels+" 0", "errors"+labels+" 0", "config_last_reload_successful"+labels+" 0",
		`build_info{build="abc",controller_class="k8s.io/ingress-nginx",controller_namespace="ingress-nginx",controller_pod="controller-0",release="v1",repository="windtunnel.dev"} 1`)
	m.Loaded([]byte("a"), time.Unix(1700000000, 0))
	want("success"+labels+" 1", "config_last_reload_successful"+labels+" 1",
		"config_last_reload_successful_timestamp_seconds"+labels+" 1.7e+09", "config_hash"+labels+" 3.82600222e+09")
	m.LoadFailed()
	want("success"+labels+" 1", "errors"+labels+" 1", "config_last_reload_successful"+labels+" 0")
	m.Current()
	want("errors"+labels+" 1", "config_last_reload_successful"+labels+" 1")
}

func TestOnlyTheProcessWithoutEnableMetrics(t *testing.T) {
	text := scrape(New(identity, Build{}, false))
	if strings.Contains(text, "nginx_ingress_controller_") || !strings.Contains(text, "go_goroutines") {
		t.Errorf("got\n%s", text)
	}
}
