package web_test

import (
	"fmt"
	"io"
	"net/http"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/watch/web"
)

// BenchmarkServe measures the share of a CPU core that showing a run takes: the state, which the
// terminal shows as well, and one client that gets all updates. It plays a part of a run in real time,
// once for each benchmark, and subtracts the cost of the playback alone. The client is in the same
// process, so its cost is included; the cost of drawing in a browser is not.
func BenchmarkServe(b *testing.B) {
	const length = 20 * time.Second
	for _, times := range []int{1, 10} {
		events := multiplied(written(), times)
		begin, end := 2*time.Second, 2*time.Second+length // turns of both subjects
		rate := 0
		for _, e := range events {
			if e.Request != nil && e.At >= begin && e.At < end {
				rate++
			}
		}
		rate /= int(length / time.Second)
		for _, serves := range []bool{false, true} {
			name := fmt.Sprintf("requests=%d/s/state", rate)
			if serves {
				name = fmt.Sprintf("requests=%d/s/state+browser", rate)
			}
			b.Run(name, func(b *testing.B) {
				var spent time.Duration
				for b.Loop() {
					spent += cost(b, events, begin, end, serves) - cost(b, events, begin, end, false, nothing)
				}
				b.ReportMetric(100*spent.Seconds()/float64(b.N)/length.Seconds(), "%core")
			})
		}
	}
}

// nothing receives the events if only the playback is measured.
func nothing(event.Event) {}

// cost plays events in real time and returns the CPU time of this process meanwhile. Events before begin
// are played at once, and not measured.
func cost(b *testing.B, events []event.Event, begin, end time.Duration, serves bool, instead ...func(event.Event)) time.Duration {
	s := show(b)
	defer s.Close(web.Result{})
	see := s.run.See
	if len(instead) > 0 {
		see = instead[0]
	}
	for len(events) > 0 && events[0].At < begin {
		see(events[0])
		events = events[1:]
	}
	if serves {
		answer, err := http.Get(s.URL() + "events")
		if err != nil {
			b.Fatal(err)
		}
		defer answer.Body.Close()
		go io.Copy(io.Discard, answer.Body)
	}
	before, started := cpu(b), time.Now()
	for ; len(events) > 0 && events[0].At < end; events = events[1:] {
		if ahead := events[0].At - begin - time.Since(started); ahead > 0 {
			time.Sleep(max(ahead, 5*time.Millisecond)) // events come in bursts, as with many clients at once
		}
		see(events[0])
	}
	return cpu(b) - before
}

// multiplied returns the events of a run, with each request repeated this many times.
func multiplied(events []event.Event, times int) (all []event.Event) {
	for _, e := range events {
		all = append(all, e)
		for range times - 1 {
			if e.Request != nil || e.Socket != nil {
				all = append(all, e)
			}
		}
	}
	return all
}

// cpu returns the CPU time of this process so far.
func cpu(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
