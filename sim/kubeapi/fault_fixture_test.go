package kubeapi

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/kubeapi/fault"
)

// rig is a server and a real informer under test. The faults hit the requests with the user agent
// of the subject, such as the informer's, and spare the operator.
type rig struct {
	*testing.T
	s        *Server
	operator typedv1.ConfigMapInterface
	subject  *rest.Config // counted
	sent     requests
	hits     chan fault.Hit
	added    chan string // names that the informer reported, once per report
	informer cache.SharedIndexInformer
}

const subjectAgent = "subject/1"

func newRig(t *testing.T, opts ...func(*Options)) *rig {
	t.Helper()
	r := &rig{T: t, hits: make(chan fault.Hit, 10000), added: make(chan string, 10000)}
	options := Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", Dir: t.TempDir(), OnFault: func(h fault.Hit) { r.hits <- h }}
	for _, opt := range opts {
		opt(&options)
	}
	var err error
	if r.s, err = Start(options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := r.s.Close(ctx); err != nil {
			t.Error(err)
		}
	})
	// The operator opens a new connection for each request: on a connection that a restart has just
	// closed a create would be lost, as with a real server. Its transport is its own, because
	// client-go would share the subject's connections.
	operator := r.s.Config()
	operator.Transport = &http.Transport{DisableKeepAlives: true}
	r.operator = client(t, operator).CoreV1().ConfigMaps("default")
	r.over(r.s.Config())
	return r
}

// over makes the subject use another transport.
func (r *rig) over(config *rest.Config) {
	r.subject = r.sent.spy(config)
	r.subject.UserAgent = subjectAgent
}

func (r *rig) create(names ...string) {
	r.Helper()
	for _, name := range names {
		if _, err := r.operator.Create(r.Context(), configMap(name, "1"), metav1.CreateOptions{}); err != nil {
			r.Fatal(err)
		}
	}
}

// watch starts the subject's informer.
func (r *rig) watch() {
	r.Helper()
	r.informer = informers.NewSharedInformerFactory(client(r, r.subject), 0).Core().V1().ConfigMaps().Informer()
	_, err := r.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) { r.added <- obj.(*corev1.ConfigMap).Name },
	})
	if err != nil {
		r.Fatal(err)
	}
	go r.informer.RunWithContext(r.Context())
}

// follow starts the informer and lets it see one object of the initial list and one live.
func (r *rig) follow() {
	r.Helper()
	r.create("first")
	r.watch()
	r.sees("first")
	r.create("second")
	r.sees("second")
	r.sent.forget()
}

// sees waits until the informer reports an object.
func (r *rig) sees(name string) {
	r.Helper()
	patience := time.After(time.Minute)
	for {
		select {
		case got := <-r.added:
			if got == name {
				return
			}
		case <-patience:
			r.Fatalf("the informer never reported %s; it sent %v", name, r.sent.kinds())
		}
	}
}

// inject injects a fault that hits only the subject.
func (r *rig) inject(f fault.Fault, scope fault.Scope) (stop func() (struck int)) {
	r.Helper()
	if f.Happen == nil {
		scope.UserAgent = subjectAgent
	}
	stop, err := r.s.Inject(f, scope)
	if err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { stop() })
	return stop
}

// hit waits for the next hit of a fault.
func (r *rig) hit(name string) fault.Hit {
	r.Helper()
	patience := time.After(time.Minute)
	for {
		select {
		case h := <-r.hits:
			if h.Fault == name {
				return h
			}
		case <-patience:
			r.Fatalf("%s never hit; the subject asked for %v", name, r.sent.kinds())
		}
	}
}

// settled waits until the informer is up to date, and checks that it has the same objects as the
// server.
func (r *rig) settled() {
	r.Helper()
	// client-go does not repeat a write on a connection that a restart has just closed.
	if _, err := r.operator.Get(r.Context(), "first", metav1.GetOptions{}); err != nil {
		r.Fatal(err)
	}
	r.create("last")
	r.sees("last")
	list, err := r.operator.List(r.Context(), metav1.ListOptions{})
	if err != nil {
		r.Fatal(err)
	}
	if held := r.informer.GetStore().ListKeys(); len(held) != len(list.Items) {
		r.Errorf("the informer has %v, the server has %d objects", held, len(list.Items))
	}
	for _, cm := range list.Items {
		obj, ok, _ := r.informer.GetStore().GetByKey("default/" + cm.Name)
		if !ok || obj.(*corev1.ConfigMap).ResourceVersion != cm.ResourceVersion {
			r.Errorf("the informer lacks %s at version %s", cm.Name, cm.ResourceVersion)
		}
	}
}

// kinds returns the requests so far, as steps of the reflector.
func (r *requests) kinds() []string {
	var kinds []string
	for _, text := range r.all() {
		u, err := url.Parse(text)
		switch q := u.Query(); {
		case err != nil:
			kinds = append(kinds, text)
		case q.Get("sendInitialEvents") == "true":
			kinds = append(kinds, "WATCHLIST")
		case q.Get("watch") == "true":
			kinds = append(kinds, "WATCH")
		default:
			kinds = append(kinds, "LIST")
		}
	}
	return kinds
}

func (r *requests) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.urls = nil
}

// asked checks the requests of the informer since it was synced: one sequence, in which "WATCH+"
// matches one or a few watches.
func (r *rig) asked(want string) {
	r.Helper()
	var got []string
	few := 0
	for _, kind := range r.sent.kinds() {
		if strings.Contains(want, kind+"+") {
			if len(got) > 0 && got[len(got)-1] == kind+"+" {
				few++
				continue
			}
			kind += "+"
		}
		got = append(got, kind)
	}
	if strings.Join(got, " ") != want {
		r.Errorf("the informer sent %v, want %s", r.sent.kinds(), want)
	}
	if few > 5 {
		r.Errorf("the informer repeated requests too often: %v", r.sent.kinds())
	}
}

// elsewhere changes another resource, so that the informer's version is no longer the newest.
func (r *rig) elsewhere() {
	r.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "other-"}}
	if _, err := client(r, r.s.Config()).CoreV1().Namespaces().Create(r.Context(), ns, metav1.CreateOptions{}); err != nil {
		r.Fatal(err)
	}
}
