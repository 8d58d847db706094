package traffic

import (
	"bytes"
	"context"
	"io"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// events is a log that can be read while it is written.
type events struct {
	*event.Log
	out *lines
}

// lines is a buffer that may be read while it is written.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func newEvents() *events {
	e := &events{out: &lines{}}
	e.Log = event.NewLog(e.out, time.Now())
	return e
}

// all flushes and reads what there is.
func (e *events) all(t testing.TB) []event.Event {
	t.Helper()
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e.out.mu.Lock()
	text := e.out.text.String()
	e.out.mu.Unlock()
	var all []event.Event
	for one, err := range event.Read(strings.NewReader(text)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

func (e *events) requests(t testing.TB) []event.Request {
	t.Helper()
	var requests []event.Request
	for _, one := range e.all(t) {
		if one.Request != nil {
			requests = append(requests, *one.Request)
		}
	}
	return requests
}

func (e *events) opened(t testing.TB) int {
	t.Helper()
	opened := 0
	for _, one := range e.all(t) {
		if one.Socket != nil && one.Socket.Opened {
			opened++
		}
	}
	return opened
}

// load is what the only attack of the log had to send.
func (e *events) load(t testing.TB) event.Load {
	t.Helper()
	var loads []event.Load
	for _, one := range e.all(t) {
		if one.Load != nil {
			loads = append(loads, *one.Load)
		}
	}
	if len(loads) != 1 {
		t.Fatalf("an attack says once what it had to send: %+v", loads)
	}
	return loads[0]
}

// first is a pacer that stops after n shots.
type first struct {
	vegeta.Pacer
	n uint64
}

func (f first) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if hits >= f.n {
		return 0, true
	}
	return f.Pacer.Pace(elapsed, hits)
}

func pod(t *testing.T, prefix, name, service string) backend.Pod {
	t.Helper()
	free, err := port.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	f := backend.New(backend.Options{Prefix: netip.MustParsePrefix(prefix), Port: free, StreamPort: free + 1})
	t.Cleanup(f.Stop)
	p, err := f.Start(name, service)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestRunSendsWhatWasScheduled(t *testing.T) {
	p := pod(t, "127.202.0.0/24", "demo/web-1", "demo/web")
	rate := vegeta.Rate{Freq: 500, Per: time.Second}
	for _, lane := range Lanes() {
		run := func() []event.Event {
			log := newEvents()
			err := Run(t.Context(), Attack{
				Lane: lane, Rate: first{rate, 100}, To: entrance(t, lane, p), Seed: 7, Subject: "it", Log: log.Log,
				Targets: []Target{{Host: "a.example", Service: "demo/web"}, {Host: "b.example", Path: "/b", Service: "demo/web"}},
				Last:    20 * time.Millisecond, Bytes: 1000,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(event.Load{Lane: lane, Due: 100}, log.load(t)); diff != "" {
				t.Errorf("%s: load (-want +got):\n%s", lane, diff)
			}
			return log.all(t)
		}
		if l, _ := find(lane); l.ownPaths {
			continue // half the targets are not for it; TestEveryLaneSucceeds has it
		}
		hosts := func(all []event.Event) map[time.Duration]string {
			byTime := map[time.Duration]string{}
			var begin time.Duration
			for _, e := range all {
				if e.Request != nil && (begin == 0 || e.At < begin) {
					begin = e.At
				}
			}
			for _, e := range all {
				if e.Socket != nil && !e.Socket.Opened {
					t.Errorf("%s: a socket was lost; only we closed any", lane)
				}
				if r := e.Request; r != nil {
					byTime[e.At-begin] = r.Host
					if r.Cause != "" || r.Pod != "demo/web-1" || r.Served != "demo/web" || r.State != "ready" || r.Status != 200 && r.Status != 101 && DoorOf(lane) <= TLS ||
						r.Lane != lane || r.Lag < 0 || r.Took <= 0 || e.Subject != "it" {
						t.Errorf("%+v", r)
					}
				}
			}
			return byTime
		}
		one, two := hosts(run()), hosts(run())
		if len(one) != 100 {
			t.Errorf("%s: %d different times of 100 requests", lane, len(one))
		}
		for at := range one {
			if at%(2*time.Millisecond) != 0 {
				t.Errorf("%s: a request was due %v after the first; at 500/s that is no multiple of 2 ms", lane, at)
			}
		}
		if diff := cmp.Diff(one, two); diff != "" {
			t.Errorf("%s: the same seed chose differently:\n%s", lane, diff)
		}
	}
}

// A stuck server does not slow the schedule down: the requests behind the
// bound are late, and say so, and those never sent are told of.
func TestStarvedGeneratorShows(t *testing.T) {
	const shots = 50
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	scripts := make([]func(*peer), shots)
	for i := range scripts {
		scripts[i] = func(p *peer) {
			if asked.Add(1) == 2 { // both that may be under way hang from now on
				time.AfterFunc(300*time.Millisecond, func() {
					cancel()
					close(release)
				})
			}
			for {
				sum := p.read()
				<-release
				if sum == "" {
					return
				}
				io.WriteString(p, answer(200, "demo/web-1", "demo/web", sum))
			}
		}
	}
	log := newEvents()
	err := Run(ctx, Attack{
		Lane: "post", Rate: vegeta.Rate{Freq: 100, Per: time.Second}, To: serve(t, scripts...).address,
		MaxInFlight: 2, Targets: []Target{{Host: "web", Service: "demo/web"}}, Log: log.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	var late time.Duration
	requests := log.requests(t)
	for _, r := range requests {
		late = max(late, r.Lag)
	}
	if late < 200*time.Millisecond {
		t.Errorf("two requests hung for 270 ms and more, yet no other was more than %v late", late)
	}
	if load := log.load(t); load.Missed == 0 || load.Missed != load.Due-len(requests) {
		t.Errorf("of about 30 requests due %d were sent; %+v", len(requests), load)
	}
}

// What was never sent is told, however soon after the end of the run the attack sees
// that it is over: before the moment of the end has been noted.
func TestWhatWasNeverSentIsTold(t *testing.T) {
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		log := newEvents()
		l, _ := find("http")
		s := newSchedule(ctx, Attack{Rate: vegeta.Rate{Freq: 100, Per: time.Second}, Log: log.Log}, l)
		s.start = s.start.Add(-time.Second)
		cancel()
		s.account()
		if load := log.load(t); load.Missed < 90 || load.Missed != load.Due {
			t.Fatalf("none of about 100 requests was sent; %+v", load)
		}
	}
}

// The end of the run is nobody's failure.
func TestRunsEndIsOurCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hang := func(p *peer) { p.read(); cancel(); p.untilClosed() }
	log := newEvents()
	err := Run(ctx, Attack{
		Lane: "http", Rate: vegeta.Rate{Freq: 1, Per: 20 * time.Millisecond}, To: serve(t, hang, hang, hang).address,
		Targets: []Target{{Host: "web", Service: "demo/web"}}, Log: log.Log,
	})
	if err != nil {
		t.Fatal(err)
	}
	requests := log.requests(t)
	if len(requests) == 0 {
		t.Error("nothing was sent")
	}
	for _, r := range requests {
		if r.Cause != event.OurCancel {
			t.Errorf("cause %q (%s)", r.Cause, r.Detail)
		}
	}
}

// A slow rate does not hold up the end of the run.
func TestSlowRateEndsAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	log := newEvents()
	if err := Run(ctx, Attack{
		Lane: "http", Rate: vegeta.Rate{Freq: 1, Per: time.Hour}, To: netip.MustParseAddrPort("127.0.0.1:1"),
		Targets: []Target{{Host: "web", Service: "demo/web"}}, Log: log.Log,
	}); err != nil {
		t.Fatal(err)
	}
	if load, requests := log.load(t), log.requests(t); load.Due != 0 || len(requests) != 0 {
		t.Errorf("%+v, %+v", load, requests)
	}
}

func TestSenselessAttacks(t *testing.T) {
	good := Attack{
		Lane: "http", Rate: vegeta.Rate{Freq: 1, Per: time.Second}, To: netip.MustParseAddrPort("127.0.0.1:1"),
		Targets: []Target{{Host: "web", Service: "demo/web"}}, Log: newEvents().Log,
	}
	for want, spoil := range map[string]func(*Attack){
		"no such lane; there are [http post ": func(a *Attack) { a.Lane = "carrier-pigeon" },
		"no log":                              func(a *Attack) { a.Log = nil },
		"no address":                          func(a *Attack) { a.To = netip.AddrPort{} },
		"no targets":                          func(a *Attack) { a.Targets = nil },
		"no rate":                             func(a *Attack) { a.Rate = nil },
		"above zero":                          func(a *Attack) { a.Rate = vegeta.Rate{} },
		"target web%zz":                       func(a *Attack) { a.Targets = []Target{{Host: "web", Path: "%zz"}} },
	} {
		bad := good
		spoil(&bad)
		if err := Run(t.Context(), bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
