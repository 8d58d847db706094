package pool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
)

const token = "a-token-of-the-test"

// rig is an API server with the pods of a pool, whose processes run inside the test.
type rig struct {
	options   Options
	processes []*httptest.Server
	api       *kubeapi.Server
}

// newRig starts n processes, at 127.204.0.1 and so on.
func newRig(t *testing.T, n int) *rig {
	t.Helper()
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { api.Close(context.Background()) })
	free, err := port.Free(3)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{api: api, options: Options{
		Config: api.Config(), Namespace: "pool", Name: "backends", Token: token, Direct: true,
		Port: free, StreamPort: free + 1, ControlPort: free + 2, Rest: time.Hour,
	}}
	if _, err := api.Writer().Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r.add(t, fmt.Sprintf("real-%d", i), netip.AddrFrom4([4]byte{127, 204, 0, byte(i + 1)}))
	}
	return r
}

func (r *rig) add(t *testing.T, name string, address netip.Addr) {
	t.Helper()
	server := &Server{Address: netip.AddrPortFrom(address, uint16(r.options.Port)), StreamPort: r.options.StreamPort, Token: token, Tell: func(event.Event) {}}
	listener, err := net.Listen("tcp", netip.AddrPortFrom(address, uint16(r.options.ControlPort)).String())
	if err != nil {
		t.Fatal(err)
	}
	process := httptest.NewUnstartedServer(server.Handler())
	process.Listener.Close()
	process.Listener = listener
	process.Start()
	t.Cleanup(func() { process.Close(); server.End(0) })
	r.processes = append(r.processes, process)

	real := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "pool", Name: name, Labels: map[string]string{PoolLabel: "backends"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "backend", Image: "windtunnel"}}},
	}
	if _, err := r.api.Writer().Create(real); err != nil {
		t.Fatal(err)
	}
	real.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: address.String(), Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}}
	if _, err := r.api.Writer().UpdateStatus(real); err != nil {
		t.Fatal(err)
	}
}

func (r *rig) open(t *testing.T) *Fleet {
	t.Helper()
	f, err := Open(t.Context(), r.options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	return f
}

// behindProxy puts a proxy in front of the API server that forwards requests to pods, as
// kube-apiserver does: without the Authorization header.
func (r *rig) behindProxy(t *testing.T) {
	t.Helper()
	to, err := url.Parse(r.api.Config().Host)
	if err != nil {
		t.Fatal(err)
	}
	api := httputil.NewSingleHostReverseProxy(to)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		rest, isPod := strings.CutPrefix(q.URL.Path, "/api/v1/namespaces/pool/pods/real-")
		if !isPod || !strings.Contains(rest, "/proxy/") {
			api.ServeHTTP(w, q)
			return
		}
		var number, at int
		if _, err := fmt.Sscanf(rest, "%d:%d", &number, &at); err != nil || at != r.options.ControlPort {
			http.NotFound(w, q)
			return
		}
		q.Header.Del("Authorization")
		q.URL.Path = rest[strings.Index(rest, "/proxy")+len("/proxy"):]
		pod, _ := url.Parse(r.processes[number].URL)
		httputil.NewSingleHostReverseProxy(pod).ServeHTTP(w, q)
	}))
	t.Cleanup(front.Close)
	config := rest.CopyConfig(r.api.Config())
	config.Host = front.URL
	r.options.Config, r.options.Direct = config, false
}

// ask returns the identity of the pod that answers at a pod's address.
func ask(p backend.Pod) (backend.Identity, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + p.Addr().String())
	if err != nil {
		return backend.Identity{}, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return backend.IdentityOf(response.Header), err
}

func mustRefuse(t *testing.T, p backend.Pod) {
	t.Helper()
	if who, err := ask(p); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the pod is %s, but %+v answers: %v", p.State(), who, err)
	}
}

func TestPodLifecycle(t *testing.T) {
	for _, way := range []string{"direct", "through the API server"} {
		t.Run(way, func(t *testing.T) {
			r := newRig(t, 2)
			if way != "direct" {
				r.behindProxy(t)
			}
			var out bytes.Buffer
			r.options.Log, r.options.Subject = event.NewLog(&out, time.Now()), "it"
			f := r.open(t)
			p, err := f.Start("demo/web-1", "demo/web")
			if err != nil {
				t.Fatal(err)
			}
			mustRefuse(t, p)
			if err := p.Ready(); err != nil {
				t.Fatal(err)
			}
			want := backend.Identity{Pod: "demo/web-1", Service: "demo/web", State: backend.Ready, Body: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
			if who, err := ask(p); err != nil || who != want {
				t.Errorf("got %+v, %v", who, err)
			}
			if conn, err := net.Dial("tcp", p.StreamAddr().String()); err != nil {
				t.Error(err)
			} else {
				conn.Close()
			}
			if err := p.Ready(); err == nil {
				t.Error("a pod became ready twice")
			}
			if again, ok := f.Get("demo/web-1"); !ok || again != p {
				t.Errorf("Get returns %v, %v", again, ok)
			}
			if _, err := f.Start("demo/web-1", "demo/web"); err == nil {
				t.Error("two pods with the same name run at the same time")
			}
			p.Terminate(time.Hour)
			until(t, func() bool { who, err := ask(p); return err == nil && who.State == backend.Terminating })
			p.Gone()
			<-p.Done()
			mustRefuse(t, p)
			if _, ok := f.Get("demo/web-1"); ok {
				t.Error("Get returns a pod that is gone")
			}
			short, err := f.Start("demo/web-2", "demo/web")
			if err != nil {
				t.Fatal(err)
			}
			if err := short.Ready(); err != nil {
				t.Fatal(err)
			}
			short.Terminate(0)
			<-short.Done()
			mustRefuse(t, short)

			if diff := cmp.Diff([]string{
				"demo/web-1 starting", "demo/web-1 ready", "demo/web-1 terminating", "demo/web-1 gone",
				"demo/web-2 starting", "demo/web-2 ready", "demo/web-2 terminating", "demo/web-2 gone",
			}, loggedStates(t, r.options.Log, &out)); diff != "" {
				t.Errorf("log (-want +got):\n%s", diff)
			}
		})
	}
}

// loggedStates closes the log and returns the states in it, as NAME STATE.
func loggedStates(t *testing.T, log *event.Log, out io.Reader) []string {
	t.Helper()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var states []string
	for e, err := range event.Read(out) {
		if err != nil || e.Pod == nil || e.Subject != "it" {
			t.Fatalf("got %+v, %v", e, err)
		}
		states = append(states, e.Pod.Name+" "+e.Pod.State)
	}
	return states
}

func until(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the condition was never met")
		}
	}
}

func startGone(t *testing.T, f *Fleet, name string) netip.AddrPort {
	t.Helper()
	p, err := f.Start(name, "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	p.Gone()
	return p.Addr()
}

func TestAddressesRestBeforeReuse(t *testing.T) {
	r := newRig(t, 3)
	f := r.open(t)
	seen := map[netip.AddrPort]bool{}
	for i := range 3 {
		at := startGone(t, f, fmt.Sprintf("demo/web-%d", i))
		if seen[at] {
			t.Errorf("%v was assigned again before its rest was over", at)
		}
		seen[at] = true
	}
	_, err := f.Start("demo/web-4", "demo/web")
	if err == nil || !strings.Contains(err.Error(), "kubectl -n pool scale deployment backends --replicas=4") {
		t.Fatalf("without a rested address: %v", err)
	}
	// The remedy in the message works.
	r.add(t, "real-9", netip.MustParseAddr("127.204.0.9"))
	if at := startGone(t, f, "demo/web-4"); seen[at] {
		t.Errorf("%v was assigned again before its rest was over", at)
	}
}

// With patience, a pod starts as soon as an address has rested.
func TestStartWaitsForAFreeAddress(t *testing.T) {
	r := newRig(t, 1)
	r.options.Rest = 300 * time.Millisecond
	impatient := r.open(t)
	if _, err := impatient.Start("demo/a", "demo/web"); err != nil {
		t.Fatal(err)
	}
	if _, err := impatient.Start("demo/b", "demo/web"); err == nil || !strings.Contains(err.Error(), "is too small") {
		t.Errorf("without patience: %v", err)
	}
	impatient.Stop()
	r.options.Patience = time.Minute
	patient, began := r.open(t), time.Now()
	if _, err := patient.Start("demo/c", "demo/web"); err != nil || time.Since(began) > 30*time.Second {
		t.Errorf("with patience, after %v: %v", time.Since(began), err)
	}
}

// The address that has been unused for the longest time is used first.
func TestLongestUnusedAddressIsNext(t *testing.T) {
	r := newRig(t, 3)
	r.options.Rest = time.Nanosecond
	f := r.open(t)
	var order []netip.AddrPort
	for i := range 9 {
		order = append(order, startGone(t, f, fmt.Sprintf("demo/web-%d", i)))
	}
	if diff := cmp.Diff(order[:6], order[3:], cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); diff != "" {
		t.Errorf("addresses are not used in turn:\n%s", diff)
	}
}

func TestFleetsShareAPool(t *testing.T) {
	r := newRig(t, 4)
	one, other := r.open(t), r.open(t)
	seen := map[netip.AddrPort]bool{}
	for i, f := range []*Fleet{one, other, one, other} {
		p, err := f.Start(fmt.Sprintf("demo/web-%d", i/2), "demo/web") // the same names
		if err != nil {
			t.Fatal(err)
		}
		if seen[p.Addr()] {
			t.Errorf("two pods have the address %v", p.Addr())
		}
		seen[p.Addr()] = true
		if err := p.Ready(); err != nil {
			t.Error(err)
		}
	}
	if _, err := one.Start("demo/web-9", "demo/web"); err == nil || !strings.Contains(err.Error(), "--replicas=5") {
		t.Errorf("without a free address: %v", err)
	}
}

func TestWrongTokenIsAnError(t *testing.T) {
	r := newRig(t, 1)
	r.options.Token = "another"
	if _, err := r.open(t).Start("demo/web-1", "demo/web"); err == nil || !strings.Contains(err.Error(), "403 Forbidden: "+TokenHeader+" is not this process's token") {
		t.Errorf("got %v", err)
	}
}

func TestEmptyPoolIsAnError(t *testing.T) {
	r := newRig(t, 0)
	if _, err := Open(t.Context(), r.options); err == nil || !strings.Contains(err.Error(), "pool/backends has no pod that is ready; see kubectl -n pool get pods -l windtunnel.dev/pool=backends") {
		t.Errorf("got %v", err)
	}
}

// When a real pod ends, its simulated pod ends as well, and nothing waits forever.
func TestSimulatedPodEndsWithTheRealPod(t *testing.T) {
	r := newRig(t, 1)
	var out bytes.Buffer
	r.options.Log = event.NewLog(&out, time.Now())
	f := r.open(t)
	p, err := f.Start("demo/web-1", "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	r.processes[0].CloseClientConnections()
	r.processes[0].Close()
	if err := p.Ready(); err == nil || p.State() != backend.Starting {
		t.Errorf("ready without a process: %v", err)
	}
	f.Stop()
	<-p.Done()
	r.options.Log.Close()
	if !strings.Contains(out.String(), "send gone to pod real-0 of the pool") {
		t.Errorf("the log lacks the trouble: %s", &out)
	}
	if _, err := f.Start("demo/web-2", "demo/web"); err == nil {
		t.Error("a pod was started after the stop")
	}
}

// A pool of the size that Size returns is enough for rolling updates of any rate: changes come at
// random times, and a process is in use during its drain, five seconds of last answers and its
// rest.
func TestSizeIsEnough(t *testing.T) {
	const drain, rest = 5 * time.Second, 10 * time.Second
	for _, rate := range []float64{0.3, 0.5, 1, 5, 20} {
		for seed := range uint64(20) {
			p := corpus.Generate(corpus.Shape{Seed: seed, Namespace: "demo", Services: 10, Pods: 4})
			changes := churn.RollingUpdate(p, churn.Options{Seed: seed, Rate: rate, For: time.Minute}).Changes
			most := 0
			for n, now := range changes {
				taken := 40 + 1
				for _, before := range changes[:n] {
					if now.At-before.At < drain+5*time.Second+rest {
						taken++
					}
				}
				most = max(most, taken)
			}
			if size := Size(40, rate, drain, rest); size < most || size > 40+int(rate*30)+3 {
				t.Errorf("rate %v, seed %d: a pool of %d, for at most %d at once", rate, seed, size, most)
			}
		}
	}
}

// Only a command of the owner changes the pod that a process runs.
func FuzzCommands(f *testing.F) {
	f.Add("claim", `{"owner":"me","name":"demo/b","service":"demo/web"}`)
	f.Add("keep", `{"owner":"me","name":"demo/a","lease":1000000000}`)
	f.Add("gone", `{"owner":"it","name":"demo/b"}`)
	f.Add("terminate", `{"owner":"me","name":"demo/a","drain":-1}`)
	f.Add("ready", `[`)
	f.Fuzz(func(t *testing.T, verb, body string) {
		s := &Server{Address: netip.MustParseAddrPort("127.204.1.1:1"), Tell: func(event.Event) {}}
		if _, err := s.claim(order{Owner: "it\x00", Name: "demo/a", Lease: time.Hour}); err != nil {
			t.Fatal(err)
		}
		q := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		q.SetPathValue("verb", verb)
		w := httptest.NewRecorder()
		s.serveOrder(w, q)
		if w.Code == http.StatusNoContent && !strings.Contains(body, `\u0000`) || s.of.Name != "demo/a" && s.pod.State() != backend.Gone {
			t.Errorf("%s %s: status %d changed the pod to %+v", verb, body, w.Code, s.of)
		}
	})
}

// A pod whose fleet has died is gone when its lease ends, and its process is free again.
func TestPodsOfADeadFleetEnd(t *testing.T) {
	r := newRig(t, 1)
	r.options.Rest = time.Millisecond
	heirs := r.open(t)
	r.options.Lease = 50 * time.Millisecond
	dead := r.open(t)
	dead.end() // as after SIGKILL: it sends nothing more
	orphan, err := dead.Start("demo/orphan", "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err = heirs.Start("demo/heir", "demo/web"); err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the process of a dead fleet is not free: ", err)
		}
	}
	if err := orphan.Ready(); err == nil {
		t.Error("a pod became ready although its process belongs to another fleet")
	}
}

// A running fleet keeps renewing the leases of its pods.
func TestLeasesAreRenewed(t *testing.T) {
	r := newRig(t, 2)
	renewed := make(chan string)
	for n, process := range r.processes {
		orders := process.Config.Handler
		process.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			orders.ServeHTTP(w, q)
			if strings.HasSuffix(q.URL.Path, "/keep") {
				select {
				case renewed <- fmt.Sprint(n):
				case <-t.Context().Done():
				}
			}
		})
	}
	r.options.Lease = 4 * time.Second // an expired one would not be renewed
	f := r.open(t)
	for _, name := range []string{"demo/a", "demo/b"} {
		if _, err := f.Start(name, "demo/web"); err != nil {
			t.Fatal(err)
		}
	}
	for times := map[string]int{}; times["0"] < 2 || times["1"] < 2; {
		times[<-renewed]++
	}
}

// A renewed lease has exactly its full length again.
func TestRenewedLeaseHasItsFullLength(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Address: netip.MustParseAddrPort("127.204.1.1:0"), Tell: func(event.Event) {}}
		if _, err := s.claim(order{Owner: "me", Name: "demo/a", Lease: time.Second}); err != nil {
			t.Fatal(err)
		}
		for _, then := range []struct {
			after time.Duration
			keeps bool
			lives bool
		}{{600 * time.Millisecond, true, true}, {700 * time.Millisecond, false, true}, {400 * time.Millisecond, false, false}} {
			time.Sleep(then.after)
			synctest.Wait()
			if s.isRunning() != then.lives {
				t.Fatalf("%v later the pod lives: %t", then.after, s.isRunning())
			}
			if then.keeps {
				if _, err := s.keep(order{Owner: "me", Name: "demo/a", Lease: time.Second}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.claim(order{Owner: "you", Name: "demo/b", Lease: time.Second, Rest: time.Hour}); err == nil {
			t.Error("a pod of another fleet started at once")
		}
		time.Sleep(time.Hour)
		if _, err := s.claim(order{Owner: "you", Name: "demo/b", Lease: time.Second, Rest: time.Hour}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Minute) // its goroutine ends with it
	})
}

// An expired lease cannot be renewed: the pod is gone.
func TestExpiredLeaseCannotBeRenewed(t *testing.T) {
	s := &Server{Address: netip.MustParseAddrPort("127.204.1.1:0"), Tell: func(event.Event) {}}
	if _, err := s.claim(order{Owner: "me", Name: "demo/a"}); err == nil {
		t.Error("a claim without a lease was accepted")
	}
	if _, err := s.claim(order{Owner: "me", Name: "demo/a", Lease: time.Nanosecond}); err != nil {
		t.Fatal(err)
	}
	<-s.pod.Done()
	if _, err := s.keep(order{Owner: "me", Name: "demo/a", Lease: time.Hour}); err == nil {
		t.Error("the lease of a pod that is gone was renewed")
	}
}

// Stop returns when the last answers are complete, including those of pods that are gone.
func TestStopWaitsForTerminatingPods(t *testing.T) {
	r := newRig(t, 1)
	f := r.open(t)
	p, err := f.Start("demo/a", "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	slow, err := http.NewRequest(http.MethodGet, "http://"+p.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	slow.Header.Set(backend.TakeHeader, "500ms")
	response, err := http.DefaultClient.Do(slow) // its header has arrived, its body arrives in pieces
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	going := make(chan struct{})
	go func() { close(going); p.Gone() }()
	<-going
	for p.State() != backend.Gone {
		time.Sleep(time.Millisecond)
	}
	f.Stop()
	select {
	case <-p.Done():
	default:
		t.Error("Stop has returned before a terminating pod had ended")
	}
}
