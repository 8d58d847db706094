package traffic

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/sim/event"
)

// limited ends a pacer after some requests.
type limited struct {
	vegeta.Pacer
	after uint64
}

func (l limited) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	if hits >= l.after {
		return 0, true
	}
	return l.Pacer.Pace(elapsed, hits)
}

// planned returns everything that one generator would send, without sending it.
func planned(t *testing.T, lane string, arrivals Arrivals, share Share) []string {
	t.Helper()
	l, ok := find(lane)
	if !ok {
		t.Fatal("no lane ", lane)
	}
	start := time.Now().Add(-time.Hour) // everything is due already
	a := Attack{
		Lane: lane, Seed: 7, Share: share, Start: start, To: netip.MustParseAddrPort("127.0.0.1:1"), Log: event.NewLog(nil, start),
		Rate: limited{arrivals.Pacer(7), 300},
	}
	for i := range 5 {
		a.Targets = append(a.Targets, Target{Host: fmt.Sprintf("host-%d", i), Path: fmt.Sprintf("/%d", i)})
	}
	method := ""
	if l.http != nil {
		method = l.http.method
	}
	s := newSchedule(t.Context(), t.Context(), a, l)
	var all []string
	for made, more := s.await(); more; made, more = s.await() {
		all = append(all, fmt.Sprintf("%s %d %v %s %s%s %x", lane, made.number, made.due.Sub(start), method, made.target.Host, made.target.Path, made.body))
	}
	if len(all) != s.ours || len(all) != len(s.unsent) {
		t.Errorf("%d requests are counted, %d of them unsent; %d were planned", s.ours, len(s.unsent), len(all))
	}
	return all
}

// The requests of an attack are the same, however many generators share them, and each is sent once.
func TestSharesAddUp(t *testing.T) {
	for name, arrivals := range map[string]Arrivals{
		"constant": {Rate: 200},
		"poisson":  {Rate: 200, Poisson: true},
		"ramp":     {Rate: 10, To: 500, Over: time.Second},
		"sine":     {Rate: 200, Swing: 150, Period: time.Second, Poisson: true},
	} {
		for _, lane := range Lanes() {
			whole := planned(t, lane, arrivals, Share{})
			if len(whole) != 300 {
				t.Fatalf("%d requests, want 300", len(whole))
			}
			for _, n := range []int{1, 2, 3, 4, 7} {
				seen := map[string]int{}
				for i := range n {
					for _, one := range planned(t, lane, arrivals, Share{Index: i, Of: n}) {
						seen[one]++
					}
				}
				for _, one := range whole {
					if seen[one] != 1 {
						t.Fatalf("%s, lane %s, %d generators: %s is sent %d times", name, lane, n, one, seen[one])
					}
				}
				if len(seen) != len(whole) {
					t.Errorf("%s, lane %s, %d generators: %d different requests, want %d: %v", name, lane, n, len(seen), len(whole), slices.Sorted(maps.Keys(seen))[0])
				}
			}
		}
	}
}

func TestBadShareIsRefused(t *testing.T) {
	for _, share := range []Share{{Index: 2, Of: 2}, {Index: -1, Of: 2}, {Index: 1}} {
		err := Run(t.Context(), Attack{
			Lane: "http", Share: share, To: netip.MustParseAddrPort("127.0.0.1:1"), Targets: []Target{{Host: "a"}},
			Log: newEvents().Log, Rate: vegeta.Rate{Freq: 1, Per: time.Second},
		})
		if err == nil {
			t.Errorf("share %+v was accepted", share)
		}
	}
}

// An order is the same attack after its way to another process.
func TestOrderSurvivesJSON(t *testing.T) {
	order := Order{
		Attack: Attack{
			Lane: "tls", To: netip.MustParseAddrPort("10.0.0.1:80"), TLS: netip.MustParseAddrPort("10.0.0.1:443"), Seed: 1<<63 + 5,
			Targets: []Target{{Host: "a", Path: "/x", Service: "demo/a", TLS: true, To: netip.MustParseAddrPort("10.0.0.1:9000")}},
			Timeout: time.Second, Last: 2 * time.Second, Bytes: 5, Subject: "subject", Share: Share{1, 3},
		},
		Arrivals: Arrivals{Rate: 5, To: 9, Over: time.Minute, Swing: 1, Period: time.Hour, Poisson: true},
	}
	text, err := json.Marshal(order)
	if err != nil {
		t.Fatal(err)
	}
	var got Order
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(order) {
		t.Errorf("got %+v, want %+v", got, order)
	}
}
