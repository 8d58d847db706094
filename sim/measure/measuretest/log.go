// Package measuretest makes event logs for tests. It stands between the tests of measurements and
// reports, and the real runs that these tests do not make. Its one rule: the same arguments make
// the same log.
package measuretest

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// Names of the subjects: with dynamic configuration, and without it.
const (
	Dynamic = "dynamic"
	Reload  = "reload"
)

const (
	ms         = time.Millisecond
	requestGap = time.Second / 300
	changeGap  = 200 * ms
	pollGap    = 4 * ms
	usageGap   = 100 * ms
	afterChurn = 2 * time.Second
	never      = 1000 * time.Hour
)

// Log generates a run of both subjects in the order A B B A, each round with churn for the given
// time. It resembles a real run: a worker of the dynamic subject reads its backends once a second,
// with its own phase; the other subject reloads about once a second, and loses a few requests in
// reloads.
func Log(seed uint64, churn time.Duration) []event.Event {
	l := &writer{random: rand.New(rand.NewPCG(seed, 1))}
	l.add(0, "", event.Event{Run: &event.Run{
		Schema: event.Schema, Scenario: "reload-vs-dynamic", Seed: seed, Driver: "local",
		Summary:     "What rolling updates cost clients, with and without dynamic configuration.",
		Start:       time.Date(2026, 11, 2, 9, 30, 0, 0, time.UTC),
		Subjects:    []string{Dynamic, Reload},
		Environment: map[string]string{"nginx": "1.22.1", "nginx workers": "2", "kernel": "Linux 6.1.0", "cpus": "2", "go": "go1.26.0"},
	}})
	subjects := map[string]*subject{}
	for i, name := range []string{Dynamic, Reload} {
		s := &subject{writer: l, name: name, reloads: name == Reload, master: 100 + 10000*i}
		s.start(0)
		subjects[name] = s
	}
	at := time.Second
	for _, name := range []string{Dynamic, Reload, Reload, Dynamic} {
		at = subjects[name].round(at, churn) + time.Second
	}
	return l.events
}

// Seq is events as event.Read yields them.
func Seq(events []event.Event) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for _, e := range events {
			if !yield(e, nil) {
				return
			}
		}
	}
}

type writer struct {
	events []event.Event
	random *rand.Rand
}

func (l *writer) add(at time.Duration, subject string, e event.Event) {
	e.At, e.Subject = at, subject
	l.events = append(l.events, e)
}

// about returns d, randomly changed by up to a fifth.
func (l *writer) about(d time.Duration) time.Duration {
	return time.Duration(float64(d) * (0.8 + 0.4*l.random.Float64()))
}

type subject struct {
	*writer
	name       string
	reloads    bool
	master     int
	generation int
	rounds     int
	changes    int
	cpu        time.Duration
}

func (s *subject) add(at time.Duration, e event.Event) { s.writer.add(at, s.name, e) }

// workers are the two PIDs of a generation.
func (s *subject) workers(generation int) []int {
	return []int{s.master + 2*generation, s.master + 2*generation + 1}
}

func (s *subject) enter(at time.Duration, generation int, state event.WorkerState) {
	for _, pid := range s.workers(generation) {
		w := &event.Worker{PID: pid, Master: s.master, Generation: generation, State: state}
		if state == event.Exited {
			w.Exit = &event.Exit{}
		}
		s.add(at, event.Event{Worker: w})
	}
}

func (s *subject) start(at time.Duration) {
	s.generation++
	s.enter(at, s.generation, event.Active)
}

// reload starts the next generation, and makes the old one drain for a while.
func (s *subject) reload(at time.Duration) {
	old := s.generation
	s.start(at)
	s.enter(at+100*ms, old, event.Draining)
	s.enter(at+s.about(1500*ms), old, event.Exited)
	s.add(at-20*ms, event.Event{Sync: &event.Sync{Took: 60 * ms, Reload: true}})
}

func (s *subject) round(begin, churn time.Duration) (end time.Duration) {
	s.rounds++
	end = begin + churn + afterChurn
	phase := func(at time.Duration, name event.PhaseName) {
		s.add(at, event.Event{Phase: &event.Phase{Name: name, Round: s.rounds}})
	}
	phase(begin, event.RoundBegin)
	reloads := s.churn(begin, churn)
	s.traffic(begin, end, reloads)
	s.usage(begin, end, reloads)
	phase(begin+churn, event.ChurnEnd)
	phase(end, event.RoundEnd)
	return end
}

// churn makes the changes and lets the workers serve them. It returns the times of the reloads.
func (s *subject) churn(begin, churn time.Duration) (reloads []time.Duration) {
	next := begin - time.Second // the previous reload
	for at := begin; at < begin+churn; at += changeGap {
		change := s.change(at)
		if !s.reloads {
			s.add(at+15*ms, event.Event{Sync: &event.Sync{Took: 4 * ms, Posts: []event.Post{{Path: "/configuration/backends", Bytes: 61000 + s.random.IntN(400), Took: 2 * ms}}}})
			for i, pid := range s.workers(s.generation) {
				phase := time.Duration(i+1) * 370 * ms
				s.poll(change, pid, at, never, (at/time.Second+1)*time.Second+phase)
			}
			continue
		}
		// A change needs another reload if the next one is about to begin.
		if at+50*ms > next {
			next = max(at+150*ms, next+s.about(time.Second))
			reloads = append(reloads, next)
			s.reload(next)
		}
		// The next reload serves the change, unless the reload is about to begin.
		for i, pid := range s.workers(s.generation) {
			s.poll(change, s.workers(s.generation - 1)[i], at, next+90*ms, never)
			s.poll(change, pid, next, never, next+s.about(30*ms))
		}
	}
	return reloads
}

func (s *subject) change(at time.Duration) *event.Change {
	s.changes++
	n := s.changes % 100
	pod := func(generation int) string { return fmt.Sprintf("demo/svc-%03d-%d", n, generation) }
	c := &event.Change{
		ID: s.changes, Step: "rolling-update", Object: fmt.Sprintf("EndpointSlice demo/svc-%03d-x7k2p", n),
		Service: fmt.Sprintf("demo/svc-%03d", n), Host: fmt.Sprintf("svc-%03d.example.com", n), Pods: 5,
		Added: []string{pod(s.changes/100 + 1)}, Removed: []string{pod(s.changes / 100)},
	}
	s.add(at, event.Event{Change: c})
	s.add(at+2*ms, event.Event{Written: &event.Written{Change: c.ID, ResourceVersion: fmt.Sprint(1000 + c.ID)}})
	return c
}

// poll polls one worker until a time, or until it serves the change, which it does from a given
// time on.
func (s *subject) poll(c *event.Change, pid int, from, until, served time.Duration) {
	for at := from + pollGap; at < until; at += s.about(pollGap) {
		a := &event.Answer{Worker: pid, Change: c.ID, Service: c.Service, Status: 200, Took: ms, Pod: c.Removed[0]}
		if at >= served {
			a.Pod = c.Added[0]
		}
		s.add(at, event.Event{Answer: a})
		if at >= served {
			return
		}
	}
}

func (s *subject) traffic(begin, end time.Duration, reloads []time.Duration) {
	lanes := []string{"http", "post"}
	for i, lane := range lanes {
		for range 16 {
			s.add(begin, event.Event{Socket: &event.Socket{Lane: lane, Opened: true}})
		}
		n := 0
		for at := begin + time.Duration(i)*ms; at < end; at += requestGap * time.Duration(len(lanes)) {
			r := &event.Request{
				Lane: lane, Method: "GET", Host: "svc.example.com", Service: "demo/svc",
				Lag: s.about(200 * time.Microsecond), Took: s.about(2 * ms), Status: 200, Reused: true,
			}
			s.spoil(r, at, reloads)
			if !r.Reused {
				s.add(at, event.Event{Socket: &event.Socket{Lane: lane, Opened: true}})
			}
			s.add(at, event.Event{Request: r})
			n++
		}
	}
}

// spoil makes a request near a reload slow, retried or lost.
func (s *subject) spoil(r *event.Request, at time.Duration, reloads []time.Duration) {
	if i, _ := slices.BinarySearch(reloads, at); i > 0 && at <= reloads[i-1]+150*ms {
		r.Took += s.about(25 * ms)
		switch dice := s.random.IntN(40); {
		case dice == 0 && r.Lane == "post":
			r.Status, r.Cause, r.Detail = 0, event.IdleClose, "EOF"
		case dice == 1:
			r.Status, r.Cause, r.Detail = 0, event.Reset, "connection reset by peer"
		case dice < 12:
			r.Reused = false
			if r.Lane == "http" {
				r.Retries = 1
			}
		}
	}
}

func (s *subject) usage(begin, end time.Duration, reloads []time.Duration) {
	for at := begin; at <= end; at += usageGap {
		live := 1
		first, _ := slices.BinarySearch(reloads, at-1500*ms)
		for _, reload := range reloads[first:] {
			if reload > at {
				break
			}
			live++
		}
		s.cpu += 4*ms + time.Duration(live-1)*20*ms
		s.add(at, event.Event{Usage: &event.Usage{
			NginxRSS: int64(live) * (44<<20 + s.random.Int64N(1<<20)), NginxCPU: s.cpu,
			ControllerRSS: 70 << 20, ControllerCPU: s.cpu / 3, Workers: 2 * live, Generations: live,
			ByGeneration: s.byGeneration(live, s.generation-after(reloads, at)),
		}})
		s.writer.add(at, "", event.Event{Host: &event.Host{Busy: 0.4, Stolen: 0.001}})
	}
}

// after counts the reloads later than at.
func after(reloads []time.Duration, at time.Duration) int {
	n := 0
	for _, reload := range reloads {
		if reload > at {
			n++
		}
	}
	return n
}

// byGeneration returns a sample of the living generations. The newest one serves.
func (s *subject) byGeneration(live, newest int) []event.Generation {
	var all []event.Generation
	for n := newest - live + 1; n <= newest; n++ {
		g := event.Generation{Master: s.master, Generation: n, Workers: 2, RSS: 40 << 20, PSS: int64(12+n%3) << 20}
		if n < newest {
			g.Draining, g.Held = 2, &event.Connections{Clients: 1 + n%4, Pods: 1}
		}
		all = append(all, g)
	}
	return all
}
