package observe_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/deploy"
	"windtunnel.dev/deploy/deploytest"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/observe"
	"windtunnel.dev/sim/observe/notice"
)

// site is a cluster with the pod of a controller, whose containers do not run.
func site(t *testing.T) *kubeapi.Server {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	create(t, api,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ingress-nginx"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}},
		&corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ingress-nginx", Name: "controller-0", Labels: map[string]string{"app": "controller"}},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "controller", Image: "registry.example/controller:v1", Args: []string{"--sync-rate-limit=2"}}}},
		},
	)
	return api
}

func create(t *testing.T, api *kubeapi.Server, objects ...runtime.Object) {
	t.Helper()
	for _, object := range objects {
		if _, err := api.Writer().Create(object); err != nil {
			t.Fatal(err)
		}
	}
}

func options(t *testing.T, api *kubeapi.Server) observe.Options {
	t.Helper()
	return observe.Options{
		API: api.Config(), Namespace: "ingress-nginx", Selector: "app=controller", Every: 100 * time.Millisecond,
		Length: 300 * time.Millisecond, Dir: filepath.Join(t.TempDir(), "observed"),
	}
}

// controller answers every request with the metrics of a controller that has reloaded once.
func controller(t *testing.T) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "nginx_ingress_controller_success 1")
	}))
	t.Cleanup(server.Close)
	return server
}

// asks makes an observation send requests to a host of this server.
func asks(o *observe.Options, server *httptest.Server, rate, probeRate float64) {
	o.Hosts, o.Lanes, o.Rate, o.ProbeRate = []notice.Host{{Name: "shop.example"}}, []string{"http"}, rate, probeRate
	o.HTTP = netip.MustParseAddrPort(server.Listener.Addr().String())
}

// It is an error if nothing of the controller can be seen.
func TestNothingSeen(t *testing.T) {
	api := site(t)
	for name, change := range map[string]func(*observe.Options){
		"a pod whose metrics cannot be read":  func(*observe.Options) {},
		"a metrics endpoint that is not one":  func(o *observe.Options) { o.MetricsURLs = []string{"http://127.0.0.1:1/metrics"} },
		"hosts, but no requests":              func(o *observe.Options) { asks(o, controller(t), 0, 0) },
		"hosts whose answers identify no pod": func(o *observe.Options) { asks(o, controller(t), 0, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t, api)
			change(&o)
			dir, _, err := observe.Observe(t.Context(), o)
			if dir != "" || err == nil || !strings.Contains(err.Error(), "the controller cannot be observed") {
				t.Errorf("folder %q, error %v", dir, err)
			}
		})
	}
	o := options(t, api)
	o.MetricsURLs = []string{"http://127.0.0.1:1/metrics", controller(t).URL}
	if _, _, err := observe.Observe(t.Context(), o); err != nil {
		t.Errorf("one of two controllers shows its metrics: %v", err)
	}
}

// The roles of deploy/observe permit everything that an observation does, and the reports name what
// cannot be seen.
func TestPermissions(t *testing.T) {
	api := site(t)
	objects, err := deploy.Build("observe", nil)
	if err != nil {
		t.Fatal(err)
	}
	everybody := &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{{APIGroups: []string{"authorization.k8s.io"}, Resources: []string{"selfsubjectaccessreviews"}, Verbs: []string{"create"}}}}
	roles := deploytest.NewAuthorizer(append(objects, everybody))
	if _, err := api.Inject(roles.Fault(), fault.Scope{}); err != nil {
		t.Fatal(err)
	}
	o := options(t, api)
	asks(&o, controller(t), 1, 0)
	var sight observe.Sight
	o.Started = func(s observe.Sight) { sight = s }
	_, measured, err := observe.Observe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	refused, needless := roles.Verdict()
	for _, r := range refused {
		if r.Resource != "pods/proxy/metrics" { // the simulated API server counts the path as a part of the subresource
			t.Errorf("no role allows %+v", r)
		}
	}
	for _, p := range needless {
		if !strings.HasPrefix(p.Resource, "pods/") && p.Resource != "pods" { // they need real containers
			t.Errorf("%+v is not needed", p)
		}
	}
	seen := map[string]bool{}
	for _, row := range sight.Rows {
		seen[row.What] = row.From != ""
	}
	if !seen["changes"] || seen["reloads"] || seen["generations and workers"] || seen["convergence"] {
		t.Errorf("seen: %v", seen)
	}
	s := measured.Result.Subjects[0]
	for _, name := range []string{"reloads", "memory.peakRSS", "workers.alive", "converge.last.p50"} {
		if s.WhyNot(name) == "" {
			t.Errorf("%s applies", name)
		}
	}
}

// The report has the changes that the API server reported.
func TestChanges(t *testing.T) {
	api := site(t)
	o := options(t, api)
	o.Length, o.MetricsURLs = time.Minute, []string{controller(t).URL}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	o.Started = func(observe.Sight) {
		go func() {
			create(t, api, &networkingv1.Ingress{
				ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
				Spec:       networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "shop.example"}}},
			})
			create(t, api, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "other"}})
			time.AfterFunc(2*time.Second, stop) // the watch reports the change long before
		}()
	}
	_, measured, err := observe.Observe(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	s := measured.Result.Subjects[0]
	if want := (measure.Changes{Made: 1, Unwatched: 1}); s.Changes != want {
		t.Errorf("changes %+v, want %+v", s.Changes, want)
	}
	if s.Reported.Late.N != 1 {
		t.Errorf("late: %+v", s.Reported.Late)
	}
}

// If all hosts use HTTPS, no address for HTTP is needed.
func TestHTTPSAlone(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	o := options(t, site(t))
	asks(&o, server, 20, 0)
	o.Hosts[0].TLS, o.HTTP, o.HTTPS = true, netip.AddrPort{}, o.HTTP
	_, measured, err := observe.Observe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r := measured.Result.Subjects[0].Requests; r.Sent == 0 || r.Causes["wrong-cert"] != r.Sent {
		t.Errorf("requests %+v", r)
	}
}

// The end of the API server during an observation is reported as a trouble. If it is gone at the end,
// the last changes are unknown.
func TestServerEnds(t *testing.T) {
	api := site(t)
	o := options(t, api)
	o.Length, o.MetricsURLs = 6*time.Second, []string{controller(t).URL}
	o.Started = func(observe.Sight) {
		if _, err := api.Inject(fault.Crash(0), fault.Scope{}); err != nil {
			t.Error(err)
		}
	}
	_, measured, err := observe.Observe(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if all := measured.Result.Subjects[0].Trouble; len(all) != 1 || !strings.HasPrefix(all[0], "the API server could not be read") {
		t.Errorf("troubles %q", all)
	}
	if missing := measured.Result.Subjects[0].Missing; len(missing) != 1 || missing[0].What != "last changes" {
		t.Errorf("missing %+v", missing)
	}
}

func TestNoController(t *testing.T) {
	o := options(t, site(t))
	o.Selector = "app=other"
	_, _, err := observe.Observe(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), "no pod in the namespace ingress-nginx has the labels app=other: set the controller's namespace with --namespace") {
		t.Errorf("error %v", err)
	}
}

// Reloads are differences of a controller's counters between two scrapes. A restart is not a reload.
func TestCounters(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	at := func(seconds int, e event.Event) event.Event {
		e.At, e.Subject = time.Duration(seconds)*time.Second, "observed"
		return e
	}
	scrape := func(pod string, started time.Time, loaded int, last time.Duration) event.Event {
		return event.Event{Scrape: &event.Scrape{Pod: pod, Started: started, Reloads: &event.Reloads{Loaded: loaded, Last: last}}}
	}
	var log bytes.Buffer
	w := event.NewLog(&log, start)
	for _, e := range []event.Event{
		{Run: &event.Run{Schema: event.Schema, Start: start, Subjects: []string{"observed"}}},
		at(1, scrape("a", start, 5, -time.Minute)),
		at(1, scrape("b", start, 9, -time.Minute)),
		at(2, event.Event{Phase: &event.Phase{Name: event.RoundBegin, Round: 1}}),
		at(3, scrape("a", start, 7, 2500*time.Millisecond)),
		at(3, scrape("b", start, 9, -time.Minute)),
		at(4, scrape("a", start.Add(time.Minute), 1, 0)), // restarted
		at(5, scrape("a", start.Add(time.Minute), 2, time.Hour)),
		at(6, event.Event{Phase: &event.Phase{Name: event.RoundEnd, Round: 1}}),
	} {
		w.Write(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	result, series, err := measure.From(event.Read(&log))
	if err != nil {
		t.Fatal(err)
	}
	s := result.Subjects[0]
	if s.Reloads != 3 || s.Reported.Controllers != 2 || s.Reported.Restarts != 1 || s.Reported.Reloads != 3 {
		t.Errorf("%d reloads, %+v", s.Reloads, s.Reported)
	}
	var times []time.Duration
	for _, reload := range series.Subjects[0].Reloads {
		times = append(times, reload.At)
	}
	if len(times) != 3 || times[0] != 2500*time.Millisecond || times[2] != 5*time.Second {
		t.Errorf("reloads at %v", times)
	}
}
