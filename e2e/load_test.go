package e2e_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/traffic"
)

// tally counts the results of one lane's requests.
type tally struct {
	Sent, Retries int
	Lost          map[event.Cause]int
	details       map[event.Cause]string // one example per cause
}

func (t tally) String() string {
	text := fmt.Sprintf("%d sent, %d retried", t.Sent, t.Retries)
	for _, cause := range slices.Sorted(maps.Keys(t.Lost)) {
		text += fmt.Sprintf(", %d lost: %s (%s)", t.Lost[cause], cause, t.details[cause])
	}
	return text
}

// load is traffic from outside the cluster, in lanes such as http (whose clients may retry) and
// post (whose clients may not).
type load struct {
	stop func()
	done sync.WaitGroup

	mu    sync.Mutex
	lanes map[string]*tally
}

// startLoad sends requests to a host, or to an address for TCP and UDP, until end is called.
func startLoad(to netip.AddrPort, host, service string, lanes ...string) *load {
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{stop: cancel, lanes: map[string]*tally{}}
	log := event.NewLog(io.Discard, time.Now())
	log.Tap(l.see)
	for _, lane := range lanes {
		l.lanes[lane] = &tally{Lost: map[event.Cause]int{}, details: map[event.Cause]string{}}
		l.done.Go(func() {
			defer GinkgoRecover()
			target := traffic.Target{Host: host, Service: service}
			if traffic.ListenerOf(lane) >= traffic.TCP {
				target.To = to
			}
			Expect(traffic.Run(ctx, traffic.Attack{
				Lane: lane, Rate: traffic.Arrivals{Rate: 40}.Pacer(1), To: to, Log: log,
				Targets: []traffic.Target{target},
			})).To(Succeed())
		})
	}
	DeferCleanup(func() { l.stop(); l.done.Wait() })
	return l
}

func (l *load) see(e event.Event) {
	if e.Request == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.lanes[e.Request.Lane]
	t.Sent++
	t.Retries += e.Request.Retries
	if cause := e.Request.Cause; cause != "" && cause != event.OurCancel {
		t.Lost[cause]++
		t.details[cause] = strings.TrimSpace(fmt.Sprintf("%d %s %s", e.Request.Status, e.Request.Pod, e.Request.Detail))
	}
}

// sent waits until each lane has sent the given number of further requests.
func (l *load) sent(ctx context.Context, more int) {
	target := l.each(func(t *tally) int { return t.Sent + more })
	EventuallyWithOffset(1, func() bool {
		now := l.each(func(t *tally) int { return t.Sent })
		for lane := range now {
			if now[lane] < target[lane] {
				return false
			}
		}
		return true
	}).WithContext(ctx).Should(BeTrue(), "all lanes keep sending")
}

func (l *load) each(of func(*tally) int) map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]int{}
	for lane, t := range l.lanes {
		all[lane] = of(t)
	}
	return all
}

// end stops the load and returns the results, which it also adds to the report.
func (l *load) end() map[string]tally {
	l.stop()
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	all := map[string]tally{}
	for lane, t := range l.lanes {
		all[lane] = *t
		AddReportEntry(lane, t.String())
	}
	return all
}
