package traffic

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/sim/event"
)

func TestRunSendsScheduledRequests(t *testing.T) {
	p := pod(t, "127.202.0.0/24", "demo/web-1", "demo/web")
	const shots = 40
	rate := vegeta.Rate{Freq: 500, Per: time.Second}
	for _, lane := range Lanes() {
		run := func() []event.Event {
			log := newEvents()
			err := Run(t.Context(), Attack{
				Lane: lane, Rate: first{rate, shots}, To: entrance(t, lane, p), Seed: 7, Subject: "it", Log: log.Log,
				Targets: []Target{{Host: "a.example", Service: "demo/web"}, {Host: "b.example", Path: "/b", Service: "demo/web"}},
				Last:    20 * time.Millisecond, Bytes: 1000,
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(event.Load{Lane: lane, Due: shots}, log.load(t)); diff != "" {
				t.Errorf("%s: load (-want +got):\n%s", lane, diff)
			}
			return log.all(t)
		}
		if l, _ := find(lane); l.http != nil && l.http.ownPaths {
			continue // half of the targets do not support it; TestEveryLaneSucceeds covers it
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
					t.Errorf("%s: a socket was lost, although only the client closes them", lane)
				}
				if r := e.Request; r != nil {
					byTime[e.At-begin] = r.Host
					if r.Cause != "" || r.Pod != "demo/web-1" || r.Served != "demo/web" || r.State != "ready" || r.Status != 200 && r.Status != 101 && ListenerOf(lane) <= TLS ||
						r.Lane != lane || r.Lag < 0 || r.Took <= 0 || e.Subject != "it" {
						t.Errorf("got %+v", r)
					}
				}
			}
			return byTime
		}
		one, two := hosts(run()), hosts(run())
		if len(one) != shots {
			t.Errorf("%s: %d requests have %d different times", lane, shots, len(one))
		}
		for at := range one {
			if at%(2*time.Millisecond) != 0 {
				t.Errorf("%s: a request was due %v after the first, want a multiple of 2 ms at 500/s", lane, at)
			}
		}
		if diff := cmp.Diff(one, two); diff != "" {
			t.Errorf("%s: the same seed chose other targets:\n%s", lane, diff)
		}
	}
}

// A request that the end of the run cuts off has not failed.
func TestEndOfRunIsNotAFailure(t *testing.T) {
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
		t.Error("no request was sent")
	}
	for _, r := range requests {
		if r.Cause != event.OurCancel {
			t.Errorf("cause %q (%s)", r.Cause, r.Detail)
		}
	}
}

func TestInvalidAttacks(t *testing.T) {
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
