package probe

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

func TestUsage(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	_, base := r.started(w)
	u := WatchUsage(r.ctx, r.Log, w, func() (int, error) { return os.Getpid(), nil })
	u.Sample()
	// The CPU time of children and of workers that have ended still counts.
	for range 5 {
		if err := n.Program.Test(t.Context(), filepath.Join(n.Folder, "nginx.conf")); err != nil {
			t.Fatal(err)
		}
	}
	n.reload("return 200;")
	r.await(w, base+1, 2)
	u.Sample()
	events := r.end(w, u)
	u.Sample() // harmless after the end

	var samples []event.Usage
	for _, e := range events {
		if e.Trouble != nil {
			t.Errorf("trouble: %+v", e.Trouble)
		}
		if e.Usage != nil {
			samples = append(samples, *e.Usage)
		}
	}
	if len(samples) < 2 {
		t.Fatalf("%d samples, want at least one for each Sample", len(samples))
	}
	var before event.Usage
	withPSS := 0
	for _, s := range samples {
		if s.NginxRSS < 3<<20 || s.ControllerRSS < 1<<20 || s.Workers < 2 || s.Generations < 1 {
			t.Errorf("sample %+v: want a master, two workers and this test", s)
		}
		if s.NginxPSS > s.NginxRSS {
			t.Errorf("PSS %d is more than RSS %d", s.NginxPSS, s.NginxRSS)
		}
		if s.NginxPSS > 0 {
			withPSS++
			if s.NginxFiles < 3*3 || s.ControllerFiles < 3 { // each has 0, 1 and 2
				t.Errorf("a thorough sample has %d files of nginx and %d of this test", s.NginxFiles, s.ControllerFiles)
			}
		}
		if s.NginxCPU < before.NginxCPU || s.ControllerCPU < before.ControllerCPU || s.ChildrenCPU < before.ChildrenCPU {
			t.Errorf("CPU time decreased: %+v, then %+v", before, s)
		}
		before = s
	}
	if withPSS < 2 {
		t.Errorf("%d samples with PSS, want at least the two of Sample", withPSS)
	}
}

func TestUsageWithoutSubject(t *testing.T) {
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, func() (int, error) { return 0, os.ErrNotExist })
	u := WatchUsage(r.ctx, r.Log, w, nil)
	u.Sample()
	for _, e := range r.end(w, u) {
		if e.Usage != nil {
			t.Errorf("a sample without a subject: %+v", e.Usage)
		}
	}
}

// Proportional memory that takes long to sample is sampled less often. It is sampled at once if a caller
// asks for it, or if there is a new generation beside an old one.
func TestProportionalMemoryRests(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	r.started(w)
	u := &Usage{log: r.Log, workers: w}
	var last event.Usage
	r.Tap(func(e event.Event) {
		if e.Usage != nil {
			last = *e.Usage
		}
	})
	one := []Worker{{Generation: 1}}
	two := append(slices.Clone(one), Worker{Generation: 2})
	for _, test := range []struct {
		what    string
		rests   time.Duration
		seen    []Worker // in the sample before
		asked   bool
		sampled bool
	}{
		{"a first sample", 0, nil, false, true},
		{"one while it rests", time.Hour, one, false, false},
		{"one that is asked for", time.Hour, one, true, true},
		{"one with a generation more", time.Hour, nil, false, true},
		{"one with a generation less", time.Hour, two, false, false},
		{"one after the rest", -time.Second, one, false, true},
	} {
		if test.rests != 0 {
			u.pssNext, u.seen = time.Now().Add(test.rests), test.seen
		}
		if u.sample(true, test.asked); (last.NginxPSS > 0) != test.sampled || last.NginxFiles == 0 {
			t.Errorf("%s: PSS %d, files %d", test.what, last.NginxPSS, last.NginxFiles)
		}
	}
	if rest := time.Until(u.pssNext); rest <= 0 {
		t.Errorf("after a sample it rests for %v", rest)
	}
}
