package cluster

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/agent"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/controllers"
	"windtunnel.dev/sim/subject"
)

// site is a simulated cluster of three nodes whose pods run in this process, as far as their HTTP APIs
// go: those of the pool accept every order, the others are agents.
type site struct {
	client kubernetes.Interface
	api    *rest.Config
	server *kubeapi.Server

	mu      sync.Mutex
	agents  map[string]http.Handler // by pod
	entry   func(pod string) agent.Entry
	dead    map[string]bool
	old     bool // the agents do not report their entry
	notices []string
	events  []event.Event
	refuses func(*http.Request) bool // which requests the API server fails; nil: none
}

// proxied is the path of a request to a pod through the API server.
var proxied = regexp.MustCompile(`^/api/v1/namespaces/[^/]+/pods/([^/:]+):\d+/proxy(/.*)$`)

func newSite(t *testing.T) *site {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), Kubelet: true, NamespaceController: true, AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	running, err := controllers.Start(t.Context(), api.Config(), controllers.Options{Nodes: []string{"n1", "n2", "n3"}}, controllers.Names()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(running.Stop)
	s := &site{server: api, agents: map[string]http.Handler{}, dead: map[string]bool{}}
	target, err := url.Parse(api.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	behind := httputil.NewSingleHostReverseProxy(target)
	behind.FlushInterval = -1
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := proxied.FindStringSubmatch(r.URL.Path); path != nil {
			s.serve(path[1], path[2], w, r)
			return
		}
		if s.refuses != nil && s.refuses(r) {
			http.Error(w, "refused", http.StatusInternalServerError)
			return
		}
		// If the answer comes before the proxy has seen the end of the body, the proxy closes its connection.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		behind.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	s.api = rest.CopyConfig(api.Config())
	s.api.Host = front.URL
	s.client = kubernetes.NewForConfigOrDie(s.api)
	return s
}

// serve answers for a pod.
func (s *site) serve(pod, path string, w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.dead[pod] {
		http.Error(w, "the pod does not answer", http.StatusBadGateway)
		return
	}
	if strings.HasPrefix(pod, poolName) {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	if s.old && path == "/observe/entry" {
		http.NotFound(w, r)
		return
	}
	if s.agents[pod] == nil {
		one, err := agent.NewServer(r.Header.Get(agent.TokenHeader), agent.Observed{
			Controller: agent.Beside, Entry: func() (agent.Entry, error) { return s.entry(pod), nil },
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		s.agents[pod] = one.Handler()
	}
	handler := s.agents[pod]
	s.mu.Unlock()
	defer s.mu.Lock()
	r.URL.Path = path
	handler.ServeHTTP(w, r)
}

func (s *site) options() Options {
	return Options{API: s.api, Tell: func(notice string) { s.notices = append(s.notices, notice) }}
}

func (s *site) open(t *testing.T, o Options) *Driver {
	t.Helper()
	d, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// prepare begins a run of the bundled controller.
func (s *site) prepare(t *testing.T, d *Driver) (*instance, error) {
	t.Helper()
	return s.prepareSubject(t, d, subject.Bundled)
}

// prepareSubject begins a run.
func (s *site) prepareSubject(t *testing.T, d *Driver, controller string) (*instance, error) {
	t.Helper()
	return s.prepareIn(t, d, subject.Subject{Name: "subject", Controller: controller}, "demo")
}

// prepareIn begins a run with four simulated pods, and objects in these namespaces.
func (s *site) prepareIn(t *testing.T, d *Driver, of subject.Subject, namespaces ...string) (*instance, error) {
	t.Helper()
	log := event.NewLog(discard{}, time.Now())
	log.Tap(func(e event.Event) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.events = append(s.events, e)
	})
	made, err := d.Prepare(t.Context(), of, driver.Options{Dir: t.TempDir(), Log: log, Pods: 4, Namespaces: namespaces})
	if err != nil {
		return nil, err
	}
	i := made.(*instance)
	t.Cleanup(func() { i.Stop(context.Background()) })
	return i, nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
