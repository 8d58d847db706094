package measure_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

// written returns the events in the order in which a run writes them: a request when it ends.
func written(events []event.Event) []event.Event {
	ends := func(e event.Event) time.Duration {
		if e.Request == nil {
			return e.At
		}
		return e.At + e.Request.Lag + e.Request.Took
	}
	events = slices.Clone(events)
	slices.SortStableFunc(events, func(a, b event.Event) int { return cmp.Compare(ends(a), ends(b)) })
	return events
}

// A run that has been watched to its end gives the same timeline and the same counts as its log.
func TestOngoingAgreesWithTheLog(t *testing.T) {
	events := measuretest.Log(1, 6*time.Second)
	result, series, err := measure.From(measuretest.Seq(events))
	if err != nil {
		t.Fatal(err)
	}
	o := measure.NewOngoing([]string{measuretest.Dynamic, measuretest.Reload}, result.Subjects[0].Measured)
	for _, e := range written(events) {
		o.Add(e)
	}
	updates, _ := o.Since(0)
	for i, p := range o.Progress() {
		s, want, got := result.Subjects[i], series.Subjects[i], updates[i]
		if p.Name != s.Name || p.Requests != s.Requests.Sent || p.Failed != s.Requests.Failed || !maps.Equal(p.Causes, s.Requests.Causes) ||
			p.Changes != s.Changes.Made || p.Reloads != s.Reloads || p.Waiting != 0 || p.Stale != s.Requests.Stale {
			t.Errorf("progress %+v, want that of %+v", p, s)
		}
		if p.Last.N < s.Converge.Last.N {
			t.Errorf("%s: %d changes are served by every worker, want %d", s.Name, p.Last.N, s.Converge.Last.N)
		}
		if got.Served != s.Changes.Made || len(got.First) != s.Converge.First.N || len(got.Every) != p.Last.N || !slices.IsSorted(got.Every) {
			t.Errorf("%s: %d first and %d last times of %d changes, want %+v", s.Name, len(got.First), len(got.Every), got.Served, s.Converge)
		}
		if len(got.Failures) != s.Requests.Failed {
			t.Errorf("%s: %d failed requests one by one, want %d", s.Name, len(got.Failures), s.Requests.Failed)
		}
		want.Changes, want.Moments = nil, nil
		// A bin has the memory of its own samples, or of the last sample before them.
		bins := got.Timeline.Bins
		if diff := gocmp.Diff(want, got.Timeline, gocmp.AllowUnexported(measure.Broken{}), gocmp.FilterPath(func(p gocmp.Path) bool {
			return p.Last().String() == ".Layers"
		}, gocmp.Ignore())); diff != "" {
			t.Errorf("the timeline of %s (-log +watched):\n%s", s.Name, diff)
		}
		if !slices.ContainsFunc(bins, func(b measure.Bin) bool { return len(b.Layers) > 0 }) {
			t.Errorf("%s: no bin has the memory of a generation", s.Name)
		}
	}
}

// A viewer who polls gets the parts of the timeline that changed, and no others.
func TestOngoingUpdates(t *testing.T) {
	o := measure.NewOngoing([]string{measuretest.Dynamic, measuretest.Reload}, 12*time.Second)
	seen := make([]map[time.Duration]measure.Bin, 2)
	for i := range seen {
		seen[i] = map[time.Duration]measure.Bin{}
	}
	var reloads, failures [2]int
	version, sent := 0, 0
	look := func() {
		var updates []measure.Update
		updates, version = o.Since(version)
		for i, u := range updates {
			sent += len(u.Bins)
			for _, bin := range u.Bins {
				seen[i][bin.At] = bin
			}
			reloads[i] += len(u.Reloads)
			failures[i] += len(u.Failures)
		}
	}
	for i, e := range written(measuretest.Log(1, 6*time.Second)) {
		o.Add(e)
		if i%500 == 0 {
			look()
		}
	}
	look()
	whole, _ := o.Since(0)
	bins := 0
	for i, u := range whole {
		bins += len(u.Bins)
		for _, bin := range u.Bins {
			if diff := gocmp.Diff(bin, seen[i][bin.At]); diff != "" {
				t.Errorf("the bin of %s at %v (-all at once +in parts):\n%s", u.Name, bin.At, diff)
			}
		}
		if reloads[i] != len(u.Reloads) || failures[i] != len(u.Failures) {
			t.Errorf("%s: %d reloads and %d failures in parts, %d and %d at once", u.Name, reloads[i], failures[i], len(u.Reloads), len(u.Failures))
		}
	}
	if sent > 4*bins {
		t.Errorf("%d bins were sent for %d: also some that did not change", sent, bins)
	}
	if updates, _ := o.Since(version); len(updates[0].Bins)+len(updates[0].Reloads)+len(updates[1].Failures) > 0 {
		t.Errorf("something changed without an event: %+v", updates)
	}
}

// A change that no worker serves yet is waited for until its round ends.
func TestOngoingWaitsForChanges(t *testing.T) {
	o := measure.NewOngoing([]string{"a"}, time.Second)
	add := func(at time.Duration, e event.Event) { e.At, e.Subject = at, "a"; o.Add(e) }
	waiting := func() int { return o.Progress()[0].Waiting }
	phase := func(name event.PhaseName) event.Event { return event.Event{Phase: &event.Phase{Name: name, Round: 1}} }
	add(1, event.Event{Worker: &event.Worker{PID: 7, Master: 1, Generation: 1, State: event.Active}})
	add(2, phase(event.RoundBegin))
	add(3, event.Event{Change: &event.Change{ID: 1, Added: []string{"new"}, Pods: 1, Host: "h"}})
	add(4, event.Event{Change: &event.Change{ID: 2, Added: []string{"newer"}, Pods: 1, Host: "h"}})
	if n := waiting(); n != 2 {
		t.Errorf("%d changes are waited for, want 2", n)
	}
	add(5, event.Event{Answer: &event.Answer{Worker: 7, Change: 1, Pod: "new", Status: 200}})
	if n := waiting(); n != 1 {
		t.Errorf("%d changes are waited for after one was served, want 1", n)
	}
	if p := o.Progress()[0]; p.Last.N != 1 || p.Last.Max != 2 {
		t.Errorf("last convergence %+v, want one of 2 ns", p.Last)
	}
	add(6, phase(event.RoundEnd))
	if n := waiting(); n != 0 {
		t.Errorf("%d changes are waited for after the round, want none", n)
	}
}

// The rate is that of the last three whole seconds.
func TestOngoingRate(t *testing.T) {
	o := measure.NewOngoing([]string{"a"}, time.Second)
	o.Add(event.Event{Subject: "a", Phase: &event.Phase{Name: event.RoundBegin}})
	for at := time.Duration(0); at < 10*time.Second; at += 100 * time.Millisecond {
		o.Add(event.Event{At: at, Subject: "a", Request: &event.Request{Lane: "http", Status: 200}})
	}
	if rate := o.Progress()[0].Rate; rate != 10 {
		t.Errorf("rate %v, want 10", rate)
	}
	o.Add(event.Event{At: 30 * time.Second, Subject: "a", Host: &event.Host{}})
	if rate := o.Progress()[0].Rate; rate != 0 {
		t.Errorf("rate %v after a pause, want 0", rate)
	}
}
