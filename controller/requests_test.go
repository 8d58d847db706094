package controller_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/socket"
	"windtunnel.dev/controller/status"
	"windtunnel.dev/internal/pki"
)

// awaitMetrics polls /metrics until ok returns true, and returns the text.
func (r *running) awaitMetrics(what string, ok func(text string) bool) string {
	r.Helper()
	var text string
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if text = r.get(r.ports.Health, "", "/metrics"); ok(text) {
			return text
		}
	}
	r.Fatalf("%s: not in\n%s", what, text)
	return ""
}

// withRequests enables the metrics of requests.
func withRequests(t *testing.T) func(*controller.Config) {
	return func(c *controller.Config) {
		listener, err := socket.Listen(c.Options.Path(options.MetricsSocket))
		if err != nil {
			t.Error(err)
		}
		c.Options.EnableMetrics, c.Requests = true, listener
	}
}

func TestRequestsAreCounted(t *testing.T) {
	t.Parallel()
	r := launchAs(t, true, withRequests(t))
	r.service(pod(t, "127.88.0.1", "one"))
	r.awaitAnswer("one")
	r.get(r.ports.HTTP, "other.example", "/")
	one := `requests{canary="",controller_class="",controller_namespace="default",controller_pod="controller",host="web.example",ingress="web",method="GET",namespace="default",path="/",service="web",status="200"} `
	wanted := []string{
		one, "request_duration_seconds_count{", "connect_duration_seconds_count{", "header_duration_seconds_count{", "response_duration_seconds_count{",
		"request_size_sum{", "response_size_sum{", "bytes_sent_sum{",
		`nginx_process_connections_total{`, `nginx_process_connections{`, "nginx_process_requests_total{", "nginx_process_resident_memory_bytes{",
		`nginx_process_num_procs{controller_class="",controller_namespace="default",controller_pod="controller"} `,
		`reload_phase_duration_seconds_count{controller_class="",controller_namespace="default",controller_pod="controller",phase="render"}`,
	}
	// A scrape may come while the record of a request is being counted.
	text := r.awaitMetrics("the request", func(text string) bool {
		return !slices.ContainsFunc(wanted, func(want string) bool { return !strings.Contains(text, "nginx_ingress_controller_"+want) })
	})
	if strings.Contains(text, "other.example") {
		t.Error("a host without an ingress is counted")
	}

	r.must(r.client.DiscoveryV1().EndpointSlices("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	r.awaitMetrics("the orphan", func(text string) bool {
		return strings.Contains(text, `ingress="web",namespace="default",type="no-endpoint"} 1`)
	})
	r.must(r.client.NetworkingV1().Ingresses("default").Delete(t.Context(), "web", metav1.DeleteOptions{}))
	r.awaitMetrics("a tested reload, and nothing of the ingress", func(text string) bool {
		return strings.Contains(text, `controller_pod="controller",phase="test"}`) && !strings.Contains(text, `ingress="web"`)
	})
}

// The leader serves the expiry of certificates, and writes addresses into the status of ingresses.
func TestLeaderServesCertificatesAndWritesAddresses(t *testing.T) {
	t.Parallel()
	requests := withRequests(t)
	r := launchAs(t, true, func(c *controller.Config) {
		requests(c)
		c.Status = &status.Options{Election: status.Election{ID: "leader", TTL: 30 * time.Second}, Addresses: status.Addresses{Fixed: []string{"192.0.2.1"}}, Update: true, Interval: 50 * time.Millisecond}
	})
	authority := pki.New("root")
	r.secret("web-tls", pairData(authority.Issue("of web", []string{"web.example"})))
	r.ingress("web", "web-tls", nil, "web.example")
	text := r.awaitMetrics("the expiry", func(text string) bool {
		return strings.Contains(text, `nginx_ingress_controller_ssl_expire_time_seconds{class="",host="web.example",`)
	})
	if !strings.Contains(text, `nginx_ingress_controller_ssl_certificate_info{class="",host="web.example",`) || !strings.Contains(text, `namespace="default",public_key_algorithm="ECDSA",secret_name="web-tls"`) {
		t.Errorf("metrics of the certificate:\n%s", text)
	}
	ingresses := r.client.NetworkingV1().Ingresses("default")
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		ingress, err := ingresses.Get(t.Context(), "web", metav1.GetOptions{})
		r.must(err)
		if got := ingress.Status.LoadBalancer.Ingress; len(got) == 1 && got[0].IP == "192.0.2.1" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("status %+v", ingress.Status)
		}
	}
	r.must(ingresses.Delete(t.Context(), "web", metav1.DeleteOptions{}))
	r.awaitMetrics("nothing of the host", func(text string) bool { return !strings.Contains(text, `host="web.example"`) })
}
