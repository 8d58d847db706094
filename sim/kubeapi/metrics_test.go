package kubeapi

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
)

// plainText returns the body of a GET, and its status code.
func plainText(t *testing.T, s *Server, path string) (string, int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+path, nil)
	check(t, err)
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	check(t, err)
	return string(body), resp.StatusCode
}

func TestMetrics(t *testing.T) {
	s := start(t)
	c := client(t, s.Config()).CoreV1().ConfigMaps("default")
	for range 2 {
		c.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, metav1.CreateOptions{}) // the second is a conflict
	}
	open, err := c.Watch(t.Context(), metav1.ListOptions{})
	check(t, err)
	const watching = `apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="WATCH",version="v1"} `
	body, _ := plainText(t, s, "/metrics")
	for _, want := range []string{
		`apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="POST",version="v1"} 1`,
		`apiserver_request_total{code="409",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="POST",version="v1"} 1`,
		`apiserver_request_duration_seconds_count{component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="POST",version="v1"} 2`,
		`apiserver_resource_objects{group="",resource="configmaps"} 1`,
		watching + "1",
		`kubernetes_build_info{git_version="` + DefaultVersion + `"} 1`,
		"# TYPE apiserver_request_total counter",
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("metrics lack %s", want)
		}
	}
	open.Stop()
	check(t, wait.PollUntilContextTimeout(t.Context(), 10*time.Millisecond, 10*time.Second, true, func(context.Context) (bool, error) {
		body, _ := plainText(t, s, "/metrics")
		return strings.Contains(body, watching+"0\n"), nil
	}))
}

func TestHealth(t *testing.T) {
	s := start(t)
	for path, want := range map[string]string{
		"/readyz":              "ok",
		"/livez/ping":          "ok",
		"/livez?verbose":       "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n",
		"/readyz?verbose=true": "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]etcd-readiness ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n",
		"/healthz?verbose&exclude=log&exclude=odd": "[+]ping ok\n[+]log excluded: ok\n[+]etcd ok\nwarn: some health checks cannot be excluded: no matches for \"odd\"\nhealthz check passed\n",
	} {
		if body, code := plainText(t, s, path); body != want || code != http.StatusOK {
			t.Errorf("%s: %d %q", path, code, body)
		}
	}
	if _, code := plainText(t, s, "/readyz/nothing"); code != http.StatusNotFound {
		t.Errorf("an unknown check: %d", code)
	}
}

// The Service kubernetes leads to the server itself.
func TestServerPublishesItself(t *testing.T) {
	s := startWith(t, Options{HTTPS: "127.0.0.1:0", Publish: true})
	c := client(t, s.TLSConfig())
	svc, err := c.CoreV1().Services("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	check(t, err)
	if svc.Spec.ClusterIP != "10.96.0.1" || svc.Spec.Ports[0].Port != 443 {
		t.Errorf("service %+v", svc.Spec)
	}
	slices, err := c.DiscoveryV1().EndpointSlices("default").List(t.Context(), metav1.ListOptions{LabelSelector: "kubernetes.io/service-name=kubernetes"})
	check(t, err)
	ep, err := c.CoreV1().Endpoints("default").Get(t.Context(), "kubernetes", metav1.GetOptions{})
	check(t, err)
	port := ep.Subsets[0].Ports[0].Port
	if len(slices.Items) != 1 || *slices.Items[0].Ports[0].Port != port || !strings.HasSuffix(s.TLSURL(), ":"+strings.TrimSpace(svc.Spec.Ports[0].TargetPort.String())) {
		t.Errorf("slices %+v, endpoints %+v, server %s", slices.Items, ep.Subsets, s.TLSURL())
	}
	if _, err := Start(Options{HTTP: "127.0.0.1:0", Publish: true}); err == nil || !strings.Contains(err.Error(), "needs HTTPS") {
		t.Errorf("without HTTPS: %v", err)
	}
	if _, err := c.CoreV1().Namespaces().Get(t.Context(), "kube-node-lease", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}
