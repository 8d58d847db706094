package traffic

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/sim/event"
)

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

// hooked is a pacer that calls hook before it says when the shot after that many is due.
type hooked struct {
	vegeta.Pacer
	hook func(hits uint64)
}

func (h hooked) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	h.hook(hits)
	return h.Pacer.Pace(elapsed, hits)
}

// silent returns the address of a peer that never answers a lane's clients.
func silent(t *testing.T, lane string) netip.AddrPort {
	t.Helper()
	if ListenerOf(lane) == UDP {
		c, err := net.ListenPacket("udp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c.LocalAddr().(*net.UDPAddr).AddrPort()
	}
	return serve(t, slices.Repeat([]func(*peer){(*peer).untilClosed}, 100)...).address
}

// Every lane reports that too few of the due requests were sent, whatever the reason.
func TestEveryLaneReportsStarvation(t *testing.T) {
	const (
		length = 300 * time.Millisecond
		due    = 29 // at 100/s; the last may be on its way when the run ends
	)
	var runs sync.WaitGroup // all in parallel, because they mostly wait
	for name, test := range map[string]struct {
		atOnce   int
		before   func(ctx context.Context, hits uint64) // what the pacer does before each shot
		mostSent int
	}{
		"all workers are busy": {atOnce: 2, mostSent: 4, before: func(context.Context, uint64) {}},
		"the pacer is late": {atOnce: 100, mostSent: 5, before: func(ctx context.Context, hits uint64) {
			if hits == 5 {
				<-ctx.Done()
			}
		}},
		"the pacer never continues": {atOnce: 100, mostSent: 0, before: func(ctx context.Context, _ uint64) { <-ctx.Done() }},
	} {
		for _, lane := range Lanes() {
			to := silent(t, lane)
			runs.Go(func() {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				begin := sync.OnceFunc(func() { time.AfterFunc(length, cancel) })
				log := newEvents()
				err := Run(ctx, Attack{
					Lane: lane, To: to, MaxInFlight: test.atOnce, Targets: []Target{{Host: "web.example", Service: "demo/web"}}, Log: log.Log,
					Rate: hooked{vegeta.Rate{Freq: 100, Per: time.Second}, func(hits uint64) { begin(); test.before(ctx, hits) }},
				})
				load, sent := log.load(t), len(log.requests(t))
				if err != nil || load.Due < due || load.Missed != load.Due-sent || sent > test.mostSent {
					t.Errorf("%s, lane %s: of %d requests due %d were sent; want %d due at least, and %d sent at most: %+v, %v",
						name, lane, load.Due, sent, due, test.mostSent, load, err)
				}
			})
		}
	}
	runs.Wait()
}

// A stuck server does not slow down the schedule: the requests that wait for it are sent late, and
// the log says so.
func TestLateRequestsAreReported(t *testing.T) {
	for lane, play := range map[string]func(p *peer, wait func()){
		"post": func(p *peer, wait func()) {
			for sum := p.read(); sum != ""; sum = p.read() {
				wait()
				io.WriteString(p, answer(200, "demo/web-1", "demo/web", sum))
			}
		},
		"tcp": func(p *peer, wait func()) {
			if line, err := p.reader.ReadString('\n'); err == nil {
				wait()
				io.WriteString(p, streamAnswer(line))
				p.untilClosed()
			}
		},
	} {
		t.Run(lane, func(t *testing.T) {
			const shots = 30
			release := make(chan struct{})
			var asked atomic.Int32
			wait := func() {
				if asked.Add(1) == 2 { // both requests that may be in flight now hang
					time.AfterFunc(300*time.Millisecond, func() { close(release) })
				}
				<-release
			}
			log := newEvents()
			err := Run(t.Context(), Attack{
				Lane: lane, Rate: first{vegeta.Rate{Freq: 100, Per: time.Second}, shots}, MaxInFlight: 2, Last: time.Millisecond, Log: log.Log,
				To:      serve(t, slices.Repeat([]func(*peer){func(p *peer) { play(p, wait) }}, shots)...).address,
				Targets: []Target{{Host: "web", Service: "demo/web"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			var late time.Duration
			for _, r := range log.requests(t) {
				late = max(late, r.Lag)
				if r.Cause != "" {
					t.Errorf("got %+v", r)
				}
			}
			if late < 200*time.Millisecond {
				t.Errorf("two requests hung for at least 270 ms, but no other request was more than %v late", late)
			}
			if diff := cmp.Diff(event.Load{Lane: lane, Due: shots}, log.load(t)); diff != "" {
				t.Errorf("load (-want +got):\n%s", diff)
			}
		})
	}
}

// If a server is stuck until the run ends, the requests that wait for it are sent late or never,
// and the log says so.
func TestStarvationIsReported(t *testing.T) {
	const shots = 50
	release := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var asked atomic.Int32
	hang := func(p *peer) {
		if asked.Add(1) == 2 { // both requests that may be in flight now hang
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
	log := newEvents()
	err := Run(ctx, Attack{
		Lane: "post", Rate: vegeta.Rate{Freq: 100, Per: time.Second}, To: serve(t, slices.Repeat([]func(*peer){hang}, shots)...).address,
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
	// A machine that stalls for a second may also miss the third request.
	if len(requests) > 2 && late < 200*time.Millisecond {
		t.Errorf("two requests hung for at least 270 ms, but no other request was more than %v late", late)
	}
	if load := log.load(t); load.Missed == 0 || load.Missed != load.Due-len(requests) {
		t.Errorf("sent %d of about 30 due requests; %+v", len(requests), load)
	}
}

// Unsent shots are counted even if the attack notices the end of the run before its time has been
// recorded.
func TestUnsentShotsAreCounted(t *testing.T) {
	for range 1000 {
		ctx, cancel := context.WithCancel(t.Context())
		log := newEvents()
		l, _ := find("http")
		s := newSchedule(ctx, t.Context(), Attack{Rate: vegeta.Rate{Freq: 100, Per: time.Second}, Log: log.Log}, l)
		s.start = s.start.Add(-time.Second)
		cancel()
		s.account()
		if load := log.load(t); load.Missed < 90 || load.Missed != load.Due {
			t.Fatalf("sent none of about 100 requests; %+v", load)
		}
	}
}

// A slow rate does not delay the end of the run.
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
		t.Errorf("got %+v, %+v", load, requests)
	}
}

// Wherever a run is interrupted, each due request is either sent or missed, in every lane.
func TestInterruptedRunsAccountForEveryShot(t *testing.T) {
	const shots = 8
	for i, lane := range Lanes() {
		t.Run(lane, func(t *testing.T) {
			t.Parallel()
			to := entrance(t, lane, pod(t, fmt.Sprintf("127.214.%d.0/24", i), "demo/web-1", "demo/web"))
			for end := range uint64(shots) {
				ctx, cancel := context.WithCancel(t.Context())
				log := newEvents()
				err := Run(ctx, Attack{
					Lane: lane, To: to, Log: log.Log, Last: 20 * time.Millisecond, Bytes: 1000, Targets: []Target{{Host: "web.example", Service: "demo/web"}},
					Rate: hooked{vegeta.Rate{Freq: 500, Per: time.Second}, func(hits uint64) {
						if hits == end {
							cancel()
						}
					}},
				})
				if err != nil {
					t.Fatal(err)
				}
				load, sent := log.load(t), len(log.requests(t))
				if load.Due < int(end) || sent > int(end) || load.Missed != load.Due-sent {
					t.Errorf("interrupted before shot %d: sent %d: %+v", end, sent, load)
				}
				for _, r := range log.requests(t) {
					if r.Lag < 0 || r.Cause != "" && r.Cause != event.OurCancel {
						t.Errorf("interrupted before shot %d: %+v", end, r)
					}
				}
			}
		})
	}
}

// Requests are due at the times of the arrivals, whatever the protocol and however late they are sent.
func TestRequestsFollowTheArrivals(t *testing.T) {
	for name, arrivals := range map[string]Arrivals{
		"constant": {Rate: 500},
		"poisson":  {Rate: 500, Poisson: true},
		"ramp":     {Rate: 100, To: 900, Over: 100 * time.Millisecond},
		"sine":     {Rate: 500, Swing: 400, Period: 50 * time.Millisecond},
		"all":      {Rate: 300, To: 900, Over: 100 * time.Millisecond, Swing: 200, Period: 50 * time.Millisecond, Poisson: true},
	} {
		for _, lane := range []string{"http", "tcp", "udp"} {
			t.Run(name+"/"+lane, func(t *testing.T) {
				const shots = 50
				p := pod(t, "127.215.0.0/24", "demo/web-1", "demo/web")
				log := newEvents()
				err := Run(t.Context(), Attack{
					Lane: lane, Rate: first{arrivals.Pacer(3), shots}, To: entrance(t, lane, p), Log: log.Log, Last: time.Millisecond,
					Targets: []Target{{Host: "web.example", Service: "demo/web"}},
				})
				if err != nil {
					t.Fatal(err)
				}
				var got []time.Duration
				for _, e := range log.all(t) {
					if e.Request != nil {
						got = append(got, e.At)
					}
				}
				slices.Sort(got)
				want := dues(arrivals, 3, shots)
				if diff := cmp.Diff(gaps(want), gaps(got)); diff != "" {
					t.Errorf("times between requests (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(event.Load{Lane: lane, Due: shots}, log.load(t)); diff != "" {
					t.Errorf("load (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// gaps returns the differences between successive times.
func gaps(times []time.Duration) []time.Duration {
	var all []time.Duration
	for i := 1; i < len(times); i++ {
		all = append(all, times[i]-times[i-1])
	}
	return all
}

// Requests carry no internal data of the generator.
func TestRequestsCarryNoInternalData(t *testing.T) {
	for _, lane := range []string{"http", "post", "websocket"} {
		t.Run(lane, func(t *testing.T) {
			seen := make(chan *http.Request, 1)
			s := serve(t, func(p *peer) {
				r, _ := http.ReadRequest(p.reader)
				seen <- r
			})
			log := newEvents()
			err := Run(t.Context(), Attack{
				Lane: lane, Rate: first{Arrivals{Rate: 100}.Pacer(1), 1}, To: s.address, Log: log.Log,
				Targets: []Target{{Host: "web.example", Path: "/a?b=c", Service: "demo/web"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			r := <-seen
			if r.Host != "web.example" || r.RequestURI != "/a?b=c" {
				t.Errorf("request to %s for %s", r.Host, r.RequestURI)
			}
			for name := range r.Header {
				if strings.HasPrefix(name, "X-") {
					t.Errorf("the request has the header %s", name)
				}
			}
		})
	}
}
