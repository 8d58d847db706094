package kubeapi

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/fault"
)

// A watching informer ends in the right state when the server fails, with these requests and no
// others. The sequences are those that client-go sent to a real server. Where it backs off (0.8 s
// and doubling), a request may be repeated as often as fits into the outage.
func TestInformerSurvives(t *testing.T) {
	watch := fault.Scope{Verbs: []string{"watch"}, Count: 1}
	once := fault.Scope{Count: 1}
	// resume ends the informer's watch, so that it reconnects into the fault.
	resume := func(r *rig) { r.inject(fault.ClosedWatch(), once); r.hit("closed-watch") }
	change := func(r *rig) { r.create("changed") }
	nothing := func(*rig) {}
	for name, test := range map[string]struct {
		fault   fault.Fault
		scope   fault.Scope
		provoke func(*rig)
		want    string
	}{
		"a clean end is resumed":                  {fault.ClosedWatch(), once, nothing, "WATCH"},
		"410 on resume lists again":               {fault.ResumeExpired(), watch, resume, "WATCH WATCHLIST"},
		"429 backs off and resumes":               {fault.TooManyRequests(0), watch, resume, "WATCH WATCH"},
		"429 with Retry-After repeats":            {fault.TooManyRequests(1e9), watch, resume, "WATCH WATCH"},
		"500 lists again":                         {fault.ServerError(500, 0), watch, resume, "WATCH WATCHLIST"},
		"503 lists again":                         {fault.ServerError(503, 0), watch, resume, "WATCH WATCHLIST"},
		"503 with Retry-After repeats":            {fault.ServerError(503, 1e9), watch, resume, "WATCH WATCH"},
		"504 lists again":                         {fault.ServerError(504, 0), watch, resume, "WATCH WATCHLIST"},
		"502 of a proxy lists again":              {fault.BadGateway(), watch, resume, "WATCH WATCHLIST"},
		"401 lists again":                         {fault.Unauthorized(), watch, resume, "WATCH WATCHLIST"},
		"403 lists again":                         {fault.Forbidden(), watch, resume, "WATCH WATCHLIST"},
		"a very short watch lists again":          {fault.EmptyWatch(), watch, resume, "WATCH WATCHLIST"},
		"a reset before the answer repeats":       {fault.Reset(), watch, resume, "WATCH+"},
		"ERROR 500 lists again":                   {fault.ErrorEvent(500), once, nothing, "WATCHLIST"},
		"ERROR 504 lists again":                   {fault.ErrorEvent(504), once, nothing, "WATCHLIST"},
		"garbage is resumed":                      {fault.Garbage(), once, nothing, "WATCH"}, // client-go reads it as the length of a truncated frame
		"half an event is resumed":                {fault.TruncatedFrame(), once, change, "WATCH"},
		"a 503 for list and watch ends by itself": {fault.ServerError(503, 0), fault.Scope{Count: 3}, resume, "WATCH WATCHLIST LIST WATCHLIST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.follow()
			before := r.s.state.Version()
			r.inject(test.fault, test.scope)
			test.provoke(r)
			for range test.scope.Count {
				h := r.hit(test.fault.Name)
				if h.Version < before || h.Resource != "configmaps" || !strings.HasPrefix(h.UserAgent, subjectAgent) || h.Connection == 0 {
					t.Errorf("logged as %+v", h)
				}
			}
			r.settled()
			r.asked(test.want)
		})
	}
}

// The effect of faults on bytes depends on the encoding and the protocol. With JSON, client-go
// recognizes garbage. Over HTTP/2 a stream is reset instead of the connection, which client-go does
// not treat as the end of the stream.
func TestInformerSurvivesBytes(t *testing.T) {
	for name, test := range map[string]struct {
		fault                 fault.Fault
		http2Proto, http2JSON string
		http1JSON             string
	}{
		"half an event": {fault.TruncatedFrame(), "WATCHLIST", "WATCHLIST", "WATCH"},
		"a clean end":   {fault.ClosedWatch(), "WATCH", "WATCH", "WATCH"},
		"garbage":       {fault.Garbage(), "WATCH", "WATCHLIST", "WATCHLIST"},
	} {
		run := func(how, contentType, want string, config func(*Server) *rest.Config) {
			t.Run(name+" "+how, func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				c := config(r.s)
				c.ContentType = contentType
				r.over(c)
				r.follow()
				r.inject(test.fault, fault.Scope{Count: 1, Resources: []string{"configmaps"}})
				r.create("changed")
				r.hit(test.fault.Name)
				r.settled()
				r.asked(want)
			})
		}
		run("HTTP/2 protobuf", "", test.http2Proto, (*Server).TLSConfig)
		run("HTTP/2 JSON", "application/json", test.http2JSON, (*Server).TLSConfig)
		run("HTTP/1.1 JSON", "application/json", test.http1JSON, (*Server).Config)
	}
}

// A delayed watch receives nothing while others receive all events, and everything after the fault
// is healed.
func TestDelayedWatchReceivesNothing(t *testing.T) {
	for _, f := range []fault.Fault{fault.StalledWatch(), fault.DelayedEvents(1 << 60)} {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.follow()
			stop := r.inject(f, fault.Scope{})
			if f.Name == "stalled-watch" {
				r.hit(f.Name) // the watch stalls at once, not only at the next event
			}
			r.create("held", "held-too")
			if f.Name != "stalled-watch" {
				r.hit(f.Name)
			}
			control, err := r.operator.Watch(r.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer control.Stop()
			for range 4 {
				<-control.ResultChan()
			}
			if len(r.added) != 0 {
				t.Errorf("the informer received %s while its watch was stalled", <-r.added)
			}
			stop()
			r.sees("held")
			r.sees("held-too")
			r.settled()
			r.asked("")
		})
	}
}

// A stalled watch outlasts its own timeout. Another watch with the same timeout shows that the
// timeout has passed.
func TestStalledWatchOutlivesItsTimeout(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create("first")
	seconds := int64(1)
	opts := metav1.ListOptions{TimeoutSeconds: &seconds, ResourceVersion: "1"}
	stop := r.inject(fault.StalledWatch(), fault.Scope{})
	stalled, err := client(t, r.subject).CoreV1().ConfigMaps("default").Watch(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	r.hit("stalled-watch")
	other, err := r.operator.Watch(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for range other.ResultChan() {
	}
	select {
	case e, ok := <-stalled.ResultChan():
		t.Errorf("the stalled watch received %v, %v", e, ok)
	default:
	}
	stop()
	for range stalled.ResultChan() { // the delayed events, and the end of the watch
	}
}

// An informer starts although its first list fails.
func TestInformerStartsDespiteFaults(t *testing.T) {
	watchlist := fault.Scope{Verbs: []string{"watchlist"}, Count: 1}
	for name, test := range map[string]struct {
		fault fault.Fault
		scope fault.Scope
		want  string
	}{
		"an empty stream falls back":            {fault.EmptyWatch(), watchlist, "WATCHLIST LIST WATCH"},
		"an empty list catches up by its watch": {fault.EmptyList(), watchlist, "WATCHLIST"},
		"a dripping list arrives":               {fault.Drip(100, 1), watchlist, "WATCHLIST"},
		"500 falls back":                        {fault.ServerError(500, 0), watchlist, "WATCHLIST LIST WATCH"},
		"429 backs off and tries again":         {fault.TooManyRequests(0), watchlist, "WATCHLIST WATCHLIST"},
		"403 falls back":                        {fault.Forbidden(), watchlist, "WATCHLIST LIST WATCH"},
		"a 410 on resume spares it":             {fault.ResumeExpired(), fault.Scope{}, "WATCHLIST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.create("first", "second")
			r.inject(test.fault, test.scope)
			r.watch()
			if test.scope.Count > 0 {
				r.hit(test.fault.Name)
			}
			r.sees("first")
			r.settled()
			r.asked(test.want)
		})
	}
}

// While a list does not begin to arrive, the informer waits, with one request.
func TestSlowList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create("first")
	stop := r.inject(fault.Delay(-1), fault.Scope{Resources: []string{"configmaps"}})
	r.watch()
	r.hit("delay")
	if r.informer.HasSynced() {
		t.Error("the informer synced without a response")
	}
	stop()
	r.sees("first")
	r.settled()
	r.asked("WATCHLIST")
}

// A list at any version may be stale; the missing objects arrive by the watch. A list of the newest
// version is never stale.
func TestStaleRead(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create("first")
	stop := r.inject(fault.StaleRead(time.Hour), fault.Scope{}) // longer than the history
	r.create("second")
	subject := client(t, r.subject).CoreV1().ConfigMaps("default")
	for rv, want := range map[string]int{"0": 0, "": 2} {
		list, err := subject.List(t.Context(), metav1.ListOptions{ResourceVersion: rv})
		if err != nil || len(list.Items) != want {
			t.Errorf("a list at version %q has %d items, %v; want %d", rv, len(list.Items), err, want)
		}
	}
	r.hit("stale-read")
	r.sent.forget()
	r.inject(fault.ServerError(500, 0), fault.Scope{Verbs: []string{"watchlist"}, Count: 1}) // makes the informer list
	r.watch()
	r.hit("stale-read")
	r.sees("first")
	r.sees("second")
	r.settled()
	r.asked("WATCHLIST LIST WATCH")
	stop()
	r.inject(fault.StaleRead(0), fault.Scope{})
	list, err := subject.List(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
	if want := configMapsOf(r.s).Len(); err != nil || len(list.Items) != want {
		t.Errorf("a list without delay has %d items, %v; want %d", len(list.Items), err, want)
	}
}
