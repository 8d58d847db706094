package kubeapi

import (
	"context"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/retry"

	"windtunnel.dev/sim/kubeapi/fault"
)

// client-go repeats requests by itself only if the answer asks for it.
func TestRetryAfter(t *testing.T) {
	for name, test := range map[string]struct {
		fault fault.Fault
		is    func(error) bool // nil: the request succeeds
		sent  int
	}{
		"429 with Retry-After": {fault.TooManyRequests(time.Second), nil, 2},
		"503 with Retry-After": {fault.ServerError(503, time.Second), nil, 2},
		"429":                  {fault.TooManyRequests(0), apierrors.IsTooManyRequests, 1},
		"500":                  {fault.ServerError(500, 0), apierrors.IsInternalError, 1},
		"503":                  {fault.ServerError(503, 0), apierrors.IsServiceUnavailable, 1},
		"504":                  {fault.ServerError(504, 0), apierrors.IsTimeout, 1},
		"401":                  {fault.Unauthorized(), apierrors.IsUnauthorized, 1},
		"403":                  {fault.Forbidden(), apierrors.IsForbidden, 1},
		"502":                  {fault.BadGateway(), apierrors.IsInternalError, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.inject(test.fault, fault.Scope{Verbs: []string{"create"}, Count: 1})
			_, err := client(t, r.subject).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{})
			if (test.is == nil && err != nil) || (test.is != nil && !test.is(err)) {
				t.Errorf("error %v", err)
			}
			if got := len(r.sent.all()); got != test.sent {
				t.Errorf("%d requests, want %d", got, test.sent)
			}
		})
	}
}

// A storm of conflicts ends after its count; a client that reads again and retries succeeds.
func TestConflictStorm(t *testing.T) {
	r := newRig(t)
	r.follow()
	cms := client(t, r.subject).CoreV1().ConfigMaps("default")
	r.inject(fault.Conflict(), fault.Scope{Count: 3, Namespace: "default", Name: "first"})
	before := len(r.sent.all())
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		cm, err := cms.Get(t.Context(), "first", metav1.GetOptions{})
		if err != nil {
			return err
		}
		cm.Data = map[string]string{"k": "v"}
		_, err = cms.Update(t.Context(), cm, metav1.UpdateOptions{})
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if got := len(r.sent.all()) - before; got != 8 { // four times GET and PUT
		t.Errorf("%d requests, want 8", got)
	}
	r.settled()
}

// A write takes effect although its client gets no answer; a client that repeats it sees the
// effect.
func TestLostAcknowledgement(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		r := newRig(t)
		if secure {
			r.over(r.s.TLSConfig())
		}
		r.follow()
		cms := client(t, r.subject).CoreV1().ConfigMaps("default")
		r.inject(fault.LostAcknowledgement(), fault.Scope{Count: 1})
		if _, err := cms.Create(t.Context(), configMap("lost", "1"), metav1.CreateOptions{}); err == nil || apierrors.ReasonForError(err) != metav1.StatusReasonUnknown {
			t.Errorf("the answer was not lost: %v", err)
		}
		if _, err := cms.Create(t.Context(), configMap("lost", "1"), metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			t.Errorf("the repeated write: %v", err)
		}
		r.sees("lost")
		r.settled()
		if got := len(r.sent.all()); got != 2 {
			t.Errorf("%d requests, want the two creates: %v", got, r.sent.all())
		}
	}
}

// A leader whose Lease is refused steps down at its deadline, and leads again after the fault is
// healed.
func TestLeaseRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	lock := &resourcelock.LeaseLock{
		LeaseMeta:  metav1.ObjectMeta{Namespace: "default", Name: "leader"},
		Client:     client(t, r.subject).CoordinationV1(),
		LockConfig: resourcelock.ResourceLockConfig{Identity: "me"},
	}
	leads, stopped := make(chan bool, 10), make(chan bool, 10)
	lead := func() {
		leaderelection.RunOrDie(t.Context(), leaderelection.LeaderElectionConfig{
			Lock: lock, LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 200 * time.Millisecond,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(context.Context) { leads <- true },
				OnStoppedLeading: func() { stopped <- true },
			},
		})
	}
	// On a busy machine the leader may miss its deadline without having sent a renewal.
	got := 0
	for got == 0 {
		go lead()
		<-leads
		stop := r.inject(fault.LeaseRefused(), fault.Scope{})
		before := len(r.sent.all())
		<-stopped
		got = len(r.sent.all()) - before
		stop()
	}
	// The leader tries a renewal every 200 ms for a second. Each is a PUT, then a GET and another
	// PUT.
	if got > 3*8 {
		t.Errorf("%d requests while refused", got)
	}
	go lead()
	<-leads
}

// A scope limits a fault: other requests are served, and counts and times end the fault.
func TestScopeLimitsFaults(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	subject := client(t, r.subject)
	get := func() error {
		_, err := subject.CoreV1().ConfigMaps("default").Get(t.Context(), "none", metav1.GetOptions{})
		return err
	}
	refused := func() bool { return apierrors.IsForbidden(get()) }

	stop := r.inject(fault.Forbidden(), fault.Scope{Resources: []string{"secrets"}})
	if refused() {
		t.Error("the fault hit another resource")
	}
	stop()
	stop = r.inject(fault.Forbidden(), fault.Scope{Skip: 1, Count: 2})
	for i, want := range []bool{false, true, true, false} {
		if got := refused(); got != want {
			t.Errorf("request %d refused: %v", i, got)
		}
	}
	stop()
	stop()
	if h := r.hit("forbidden"); h.Number != 1 || h.Verb != "get" || h.Name != "none" || h.Namespace != "default" || h.Path != cmPath+"/none" {
		t.Errorf("logged as %+v", h)
	}
	connection := r.hit("forbidden").Connection
	stop = r.inject(fault.Forbidden(), fault.Scope{Connection: connection})
	if !refused() {
		t.Error("the fault missed its connection")
	}
	if _, err := client(t, r.s.TLSConfig()).CoreV1().Pods("").List(t.Context(), metav1.ListOptions{}); err != nil {
		t.Errorf("the fault hit another connection: %v", err)
	}
	stop()
	until := func(what string, is func() bool) {
		t.Helper()
		poll := func(context.Context) (bool, error) { return is(), nil }
		if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, poll); err != nil {
			t.Fatalf("it never %s: %v", what, err)
		}
	}
	stop = r.inject(fault.Forbidden(), fault.Scope{After: 20 * time.Millisecond})
	until("began", refused)
	stop()
	r.inject(fault.Forbidden(), fault.Scope{For: 20 * time.Millisecond})
	until("ended", func() bool { return !refused() })
	until("went", func() bool { return len(r.s.faults.now.Load().injections) == 0 })
	for _, scope := range []fault.Scope{{Verbs: []string{"put"}}, {Count: -1}} {
		if _, err := r.s.Inject(fault.Forbidden(), scope); err == nil {
			t.Errorf("the server accepted the scope %+v", scope)
		}
	}
}

// Faults can also hit requests that are not about a resource.
func TestFaultsHitDiscovery(t *testing.T) {
	r := newRig(t)
	r.inject(fault.ServerError(503, 0), fault.Scope{Count: 1})
	if _, err := client(t, r.subject).ServerVersion(); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("error %v", err)
	}
	if h := r.hit("server-error-503"); h.Path != "/version" || h.Resource != "" {
		t.Errorf("logged as %+v", h)
	}
}

// An empty list is well-formed and has the version of the empty server.
func TestEmptyList(t *testing.T) {
	r := newRig(t)
	r.create("first")
	r.inject(fault.EmptyList(), fault.Scope{})
	cms := client(t, r.subject).CoreV1().ConfigMaps("default")
	list, err := cms.List(t.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 0 || list.ResourceVersion != "1" {
		t.Errorf("got %+v, %v", list, err)
	}
	w, err := cms.Watch(t.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	if e := <-w.ResultChan(); e.Type != "ADDED" || e.Object.(*corev1.ConfigMap).Name != "first" {
		t.Errorf("event %+v", e)
	}
	last, err := r.operator.Get(t.Context(), "first", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	list, err = cms.List(t.Context(), metav1.ListOptions{ResourceVersion: last.ResourceVersion})
	if err != nil || len(list.Items) != 1 {
		t.Errorf("a list not older than the object's version: %+v, %v", list, err)
	}
}

// No fault delays a request beyond the end of the server.
func TestFaultsEndWithTheServer(t *testing.T) {
	r := newRig(t)
	r.inject(fault.Delay(-1), fault.Scope{})
	done := make(chan error, 1)
	go func() {
		req, _ := http.NewRequest("GET", r.s.URL()+"/healthz", nil)
		req.Header.Set("User-Agent", subjectAgent)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err == nil {
			resp.Body.Close()
		}
		done <- err
	}()
	r.hit("delay")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.s.Close(ctx); err != nil {
		t.Errorf("a delayed request blocks Close: %v", err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}
