package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/traffic"
)

const token = "secret"

// runLog is an event log that a test can read.
type runLog struct {
	*event.Log
	mu     sync.Mutex
	events []event.Event
}

func newRunLog() *runLog {
	l := &runLog{Log: event.NewLog(discard{}, time.Now())}
	l.Tap(func(e event.Event) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.events = append(l.events, e)
	})
	return l
}

func (l *runLog) all() []event.Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]event.Event{}, l.events...)
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// start runs an agent and returns its peer.
func start(t *testing.T, name string, log *event.Log, wrap func(http.Handler) http.Handler) *Peer {
	t.Helper()
	s, err := NewServer(token, Observed{Controller: Beside})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.End)
	handler := s.Handler()
	if wrap != nil {
		handler = wrap(handler)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return NewPeer(At{Pod: name, Node: "node-of-" + name, URL: server.URL, Client: server.Client(), Token: token}, log)
}

// answering starts a server that answers like a simulated pod. It returns the server's address and its
// request counter.
func answering(t *testing.T) (netip.AddrPort, *atomic.Int64) {
	t.Helper()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set(backend.PodHeader, "demo/web-1")
		fmt.Fprint(w, `{"pod":"demo/web-1"}`)
	}))
	t.Cleanup(server.Close)
	return netip.MustParseAddrPort(server.Listener.Addr().String()), &asked
}

func orders(to netip.AddrPort) []traffic.Order {
	return []traffic.Order{{
		Attack:   traffic.Attack{Lane: "http", To: to, Targets: []traffic.Target{{Host: "a"}, {Host: "b"}}, Seed: 3, Subject: "subject"},
		Arrivals: traffic.Arrivals{Rate: 40},
	}}
}

// Several agents together send the requests of one, and the log has their events on its own clock.
func TestAgentsShareTheRequests(t *testing.T) {
	log := newRunLog()
	to, asked := answering(t)
	var peers []*Peer
	for i := range agents {
		peers = append(peers, start(t, fmt.Sprintf("traffic-%d", i), log.Log, nil))
	}
	generators := NewTraffic(peers, log.Log, "subject")
	t.Cleanup(generators.Close)
	const rounds = 2
	for range rounds {
		before := log.Now()
		begin, err := generators.Begin(t.Context(), orders(to))
		if err != nil {
			t.Fatal(err)
		}
		if begin <= before {
			t.Errorf("the start, %v, is in the past of %v", begin, before)
		}
		await(t, func() bool { return log.Now() > begin+700*time.Millisecond })
		if err := generators.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		checkRound(t, log, begin)
		log.mu.Lock()
		log.events = nil
		log.mu.Unlock()
	}
	if asked.Load() < rounds*20 {
		t.Errorf("only %d requests arrived", asked.Load())
	}
}

// agents is the number of agents that share the requests of a round.
const agents = 3

// checkRound checks that the log has every due request of a round once. The agents stop at different
// moments, so each share has its own last request.
func checkRound(t *testing.T, log *runLog, begin time.Duration) {
	t.Helper()
	due, missed, clocks := 0, 0, map[string]bool{}
	seen := map[int64]int{}
	for _, e := range log.all() {
		switch {
		case e.Missing != nil:
			t.Errorf("missing: %+v", e.Missing)
		case e.Load != nil:
			due, missed = due+e.Load.Due, missed+e.Load.Missed
		case e.Clock != nil:
			clocks[e.Clock.Node] = true
			if e.Clock.Bound <= 0 || e.Clock.Bound > time.Second || e.Clock.Offset.Abs() > e.Clock.Bound+time.Second {
				t.Errorf("the offset of this machine's own clock is too large: %+v", e.Clock)
			}
		case e.Request != nil:
			number := int64((e.At - begin + 12*time.Millisecond) / (25 * time.Millisecond)) // 40/s: the first is due after 25 ms
			seen[number]++
		}
	}
	if len(clocks) != agents {
		t.Errorf("clocks of %v, want those of three nodes", clocks)
	}
	var sent, skipped int
	var last [agents]int64
	for number, times := range seen {
		if times != 1 {
			t.Errorf("request %d was sent %d times", number, times)
		}
		sent += times
		last[number%agents] = max(last[number%agents], number)
	}
	for n := int64(1); n <= slices.Max(last[:]); n++ {
		if seen[n] == 0 && n < last[n%agents] {
			skipped++
		}
	}
	if sent != due-missed || skipped > missed {
		t.Errorf("%d due and %d missed, but %d sent, and %d before the last of their share not sent", due, missed, sent, skipped)
	}
	if due < 20 || missed > due/2 {
		t.Errorf("%d due, %d missed", due, missed)
	}
}

// await waits for a condition.
func await(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("timeout")
		}
	}
}

// If a pod dies, the log reports its events as missing, with the reason.
func TestLostPodIsMissing(t *testing.T) {
	log := newRunLog()
	to, _ := answering(t)
	var dead atomic.Bool
	doomed := start(t, "traffic-1", log.Log, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if dead.Load() {
				http.Error(w, "no such pod", http.StatusNotFound)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	doomed.at.Gone = func(context.Context) error { return fmt.Errorf("the pod was evicted: the node was low on memory") }
	generators := NewTraffic([]*Peer{start(t, "traffic-0", log.Log, nil), doomed}, log.Log, "subject")
	t.Cleanup(generators.Close)
	if _, err := generators.Begin(t.Context(), orders(to)); err != nil {
		t.Fatal(err)
	}
	dead.Store(true)
	if err := generators.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	told, clocks := "", 0
	for _, e := range log.all() {
		if e.Missing != nil {
			told += e.Missing.What + ": " + e.Missing.Why + "\n"
		}
		if e.Clock != nil {
			clocks++
		}
	}
	if !strings.Contains(told, "requests of pod traffic-1") || !strings.Contains(told, "evicted") {
		t.Errorf("the log says %q", told)
	}
	if clocks != 1 {
		t.Errorf("%d clocks, want that of the other pod", clocks)
	}
}

// A lost response is sent again, and lost events are detected.
func TestEventsArriveOnce(t *testing.T) {
	log := newRunLog()
	var calls atomic.Int64
	p := start(t, "a", log.Log, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasPrefix(r.URL.Path, "/events/") && calls.Add(1) == 1 {
				lost := httptest.NewRecorder()
				next.ServeHTTP(lost, r)
				http.Error(w, "lost", http.StatusBadGateway)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	to, _ := answering(t)
	generators := NewTraffic([]*Peer{p}, log.Log, "subject")
	t.Cleanup(generators.Close)
	begin, err := generators.Begin(t.Context(), orders(to))
	if err != nil {
		t.Fatal(err)
	}
	await(t, func() bool { return log.Now() > begin+50*time.Millisecond })
	if err := generators.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	loads := 0
	for _, e := range log.all() {
		if e.Load != nil {
			loads++
		}
		if e.Missing != nil {
			t.Errorf("missing: %+v", e.Missing)
		}
	}
	if loads != 1 {
		t.Errorf("%d loads, want 1", loads)
	}
	p.reader.lines--
	if _, err := p.fetch(t.Context()); err == nil || !strings.Contains(err.Error(), "have arrived") {
		t.Errorf("a lost event was not noticed: %v", err)
	}
}

// A segment that ends in the middle of a line leaves the rest to the next one.
func TestSegmentsCutLines(t *testing.T) {
	s := newStore()
	fmt.Fprint(s, "{\"at\":1}\n{\"a")
	first, lines, err := s.segment(0)
	if err != nil || lines != 1 {
		t.Fatal(lines, err)
	}
	fmt.Fprint(s, "t\":2}\n")
	if again, _, err := s.segment(0); err != nil || string(again) != string(first) {
		t.Errorf("the second response with segment 0 differs: %v", err)
	}
	if _, lines, err = s.segment(1); err != nil || lines != 2 {
		t.Error(lines, err)
	}
	if _, _, err := s.segment(0); err == nil {
		t.Error("a segment is kept after it has arrived")
	}
}

func TestAgentNeedsItsToken(t *testing.T) {
	p := start(t, "a", newRunLog().Log, nil)
	p.at.Token = "wrong"
	if err := p.MeasureClock(t.Context()); err == nil || !strings.Contains(err.Error(), "403") {
		t.Errorf("got %v", err)
	}
	if _, err := NewServer("", Observed{}); err == nil {
		t.Error("an agent without a token was accepted")
	}
}

// An agent whose harness has died ends by itself.
func TestSilenceEndsAnAgent(t *testing.T) {
	s, err := NewServer(token, Observed{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.AwaitSilence(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.AwaitSilence(ctx, time.Hour); err == nil {
		t.Error("the context ended, but AwaitSilence returned nil")
	}
}
