package metrics

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"windtunnel.dev/controller/conf"
)

func scrape(m *Metrics) string {
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

var options = Options{
	Identity: Identity{Namespace: "ingress-nginx", Class: "k8s.io/ingress-nginx", Pod: "controller-0"},
	Build:    Build{Release: "v1", Commit: "abc", Repository: "windtunnel.dev"},
	Full:     true,
	Requests: DefaultRequests,
	Election: "ingress-controller-leader", Admission: true,
}

// common are the labels of most metrics. They come first.
const common = `controller_class="k8s.io/ingress-nginx",controller_namespace="ingress-nginx",controller_pod="controller-0"`

// want checks that the controller's own metrics contain the lines.
func want(t *testing.T, m *Metrics, lines ...string) {
	t.Helper()
	text := scrape(m)
	for _, line := range lines {
		if !strings.Contains(text, "\nnginx_ingress_controller_"+line+"\n") {
			t.Errorf("no %q in\n%s", line, ours(text))
		}
	}
}

// ours returns the lines of the controller's own metrics.
func ours(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, namespace) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

func TestReloads(t *testing.T) {
	m := New(options)
	want(t, m, "success{"+common+"} 0", "errors{"+common+"} 0", "config_last_reload_successful{"+common+"} 0",
		`build_info{build="abc",`+common+`,release="v1",repository="windtunnel.dev"} 1`)
	m.Loaded(conf.Whole([]byte("a")), time.Unix(1700000000, 0))
	want(t, m, "success{"+common+"} 1", "config_last_reload_successful{"+common+"} 1",
		"config_last_reload_successful_timestamp_seconds{"+common+"} 1.7e+09", "config_hash{"+common+"} 3.82600222e+09")
	m.LoadFailed()
	want(t, m, "success{"+common+"} 1", "errors{"+common+"} 1", "config_last_reload_successful{"+common+"} 0")
	m.Current()
	want(t, m, "errors{"+common+"} 1", "config_last_reload_successful{"+common+"} 1")
	m.Phase(Test, 2*time.Second)
	m.Phase(FirstWorker, 0)
	want(t, m, `reload_phase_duration_seconds_sum{`+common+`,phase="test"} 2`)
	if strings.Contains(scrape(m), `phase="first_worker"`) {
		t.Error("a phase that was not reached has an observation")
	}
}

func TestOnlyProcessMetricsWithoutEnableMetrics(t *testing.T) {
	m := New(Options{})
	m.Nginx("http://127.0.0.1:1", "http://127.0.0.1:1", func() []int { return nil })
	m.Requests([]Record{{Host: "web.example"}})
	m.Admitted(Admission{})
	m.Leader(true)
	text := scrape(m)
	if ours(text) != "" || !strings.Contains(text, "go_goroutines") || !strings.Contains(text, "promhttp_") {
		t.Errorf("got\n%s", text)
	}
}

func TestLeader(t *testing.T) {
	m := New(options)
	line := "leader_election_status{" + common + `,name="ingress-controller-leader"} `
	want(t, m, line+"0")
	m.Leader(true)
	want(t, m, line+"1")
	m.Leader(false)
	want(t, m, line+"0")
	o := options
	o.Election = ""
	if text := scrape(New(o)); strings.Contains(text, "leader_election_status") {
		t.Error("the metric of the election exists without an election")
	}
}

// Only the leader serves the expiry of a certificate. All controllers serve the other metric.
func TestCertificates(t *testing.T) {
	m := New(options)
	of := func(host string) string {
		return `class="k8s.io/ingress-nginx",host="` + host + `",identifier="id",` // labels are sorted
	}
	cert := Certificate{Host: "a.example", Namespace: "shop", Secret: "tls", Identifier: "id", Expires: time.Unix(1700000000, 0),
		IssuerOrganization: "Acme", IssuerCommonName: "CA", SerialNumber: "7", PublicKeyAlgorithm: "RSA"}
	expiry := "ssl_expire_time_seconds{" + of("a.example") + `namespace="shop",secret_name="tls"} 1.7e+09`
	info := "ssl_certificate_info{" + of("a.example") + `issuer_common_name="CA",issuer_organization="Acme",namespace="shop",public_key_algorithm="RSA",secret_name="tls",serial_number="7"} 1`
	m.Certificates([]Certificate{cert})
	want(t, m, info)
	if strings.Contains(scrape(m), "ssl_expire_time_seconds") {
		t.Error("a controller that never led serves the expiry")
	}
	m.Leader(true)
	want(t, m, info, expiry)
	cert.Host = "b.example"
	m.Certificates([]Certificate{cert})
	if text := scrape(m); strings.Contains(text, "a.example") || strings.Count(text, "b.example") != 2 {
		t.Errorf("after a change of host:\n%s", ours(text))
	}
	m.Leader(false)
	if strings.Contains(scrape(m), "ssl_expire_time_seconds") {
		t.Error("a former leader still serves the expiry")
	}
}

func TestOrphans(t *testing.T) {
	m := New(options)
	m.Orphans([]Orphan{{"shop", "web", NoService}, {"shop", "api", NoEndpoint}, {"shop", "web", NoService}})
	want(t, m, "orphan_ingress{"+common+`,ingress="web",namespace="shop",type="no-service"} 1`,
		"orphan_ingress{"+common+`,ingress="api",namespace="shop",type="no-endpoint"} 1`)
	m.Orphans(nil)
	if strings.Contains(scrape(m), "orphan_ingress") {
		t.Error("orphans remain")
	}
}

func TestAdmissions(t *testing.T) {
	m := New(options)
	m.Admitted(Admission{Namespace: "shop", Ingress: "web", Tested: 3, Rendered: 2, Size: 1000, Test: time.Second, Render: 2 * time.Second, Roundtrip: 4 * time.Second})
	m.Admitted(Admission{Namespace: "shop", Ingress: "web", Denied: true, Tested: 3, Rendered: 2, Size: 1000, Test: time.Second, Render: 2 * time.Second, Roundtrip: 4 * time.Second})
	for name, value := range map[string]string{"tested_ingresses": "3", "tested_duration": "1", "render_ingresses": "2", "render_duration": "2", "config_size": "1000", "roundtrip_duration": "4"} {
		want(t, m, "admission_"+name+"{"+common+"} "+value)
	}
	want(t, m, "check_success{"+common+`,ingress="web",namespace="shop"} 1`, "check_errors{"+common+`,ingress="web",namespace="shop"} 1`)
	o := options
	o.Admission = false
	if text := scrape(New(o)); strings.Contains(text, "_admission_") {
		t.Error("metrics of the webhook exist without a webhook")
	}
}

// Users may try any number of names. Only the ingresses that were checked last keep their series, besides
// those that nginx serves.
func TestSeriesOfUnservedIngressesAreBounded(t *testing.T) {
	m := New(options)
	m.Serves(serving("web.example"))
	m.Admitted(Admission{Namespace: "shop", Ingress: "web"})
	for i := range mostUnserved + 2 {
		m.Admitted(Admission{Namespace: "shop", Ingress: fmt.Sprint("new", i), Denied: true})
		m.Admitted(Admission{Namespace: "shop", Ingress: "new0"})
	}
	of := func(ingress string) string { return "{" + common + `,ingress="` + ingress + `",namespace="shop"}` }
	want(t, m, "check_success"+of("web")+" 1", "check_success"+of("new0")+fmt.Sprint(" ", mostUnserved+2), "check_errors"+of("new0")+" 1", "check_errors"+of(fmt.Sprint("new", mostUnserved+1))+" 1")
	text := scrape(m)
	if n := strings.Count(text, namespace+"_check_errors{"); n != mostUnserved {
		t.Errorf("%d series of denied ingresses, want %d", n, mostUnserved)
	}
	if strings.Contains(text, of("new1")) {
		t.Error("the series that was counted longest ago remains")
	}
}

// A served ingress is no longer one of those whose series make room for others.
func TestSeriesOfServedIngressesStay(t *testing.T) {
	m := New(options)
	m.Admitted(Admission{Namespace: "shop", Ingress: "web"})
	m.Serves(serving("web.example"))
	for i := range mostUnserved + 1 {
		m.Admitted(Admission{Namespace: "shop", Ingress: fmt.Sprint("new", i), Denied: true})
	}
	want(t, m, "check_success{"+common+`,ingress="web",namespace="shop"} 1`)
}

// The linter objects only to names that come from ingress-nginx.
func TestLint(t *testing.T) {
	m := New(options)
	m.Nginx("http://127.0.0.1:1", "http://127.0.0.1:1", func() []int { return []int{1} })
	m.Requests([]Record{{Host: "-"}})
	m.WillServe(serving("web.example"))
	m.Requests([]Record{record()})
	m.Admitted(Admission{})
	m.Orphans([]Orphan{{}})
	m.Phase(Test, 1)
	m.Complained()
	problems, err := promlint.New(strings.NewReader(scrape(m))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	theirs := []string{"requests", "success", "errors", "check_success", "check_errors", "nginx_process_connections_total", "bytes_sent"}
	for _, p := range problems {
		if !slices.Contains(theirs, strings.TrimPrefix(p.Metric, namespace+"_")) {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}
