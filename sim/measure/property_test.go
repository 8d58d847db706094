package measure_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
)

type measured struct {
	Result measure.Result
	Series measure.Series
}

func from(t testing.TB, events []event.Event) measured {
	t.Helper()
	result, series, err := measure.From(measuretest.Seq(events))
	if err != nil {
		t.Fatal(err)
	}
	return measured{result, series}
}

// Writers race, so the order of the lines must not matter, especially for lines with the same time.
func TestLineOrderDoesNotMatter(t *testing.T) {
	events := measuretest.Log(1, 3*time.Second)
	// A coarse clock gives many lines the same time.
	for i := range events {
		events[i].At = events[i].At.Truncate(50 * time.Millisecond)
	}
	want := from(t, events)
	for seed := range uint64(5) {
		random := rand.New(rand.NewPCG(seed, 2))
		random.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		if diff := cmp.Diff(want, from(t, events)); diff != "" {
			t.Fatalf("seed %d: the result depends on the order (-first +shuffled):\n%s", seed, diff)
		}
	}
}

// The figures of a subject are independent of the events of another subject.
func TestSubjectsAreIndependent(t *testing.T) {
	events := measuretest.Log(2, 3*time.Second)
	both := from(t, events)
	for i, name := range []string{measuretest.Dynamic, measuretest.Reload} {
		alone := from(t, slices.DeleteFunc(slices.Clone(events), func(e event.Event) bool {
			return e.Subject != "" && e.Subject != name
		}))
		if diff := cmp.Diff(alone.Result.Subjects[i], both.Result.Subjects[i]); diff != "" {
			t.Errorf("%s (-alone +with the other):\n%s", name, diff)
		}
		if diff := cmp.Diff(alone.Series.Subjects[i], both.Series.Subjects[i]); diff != "" {
			t.Errorf("%s (-alone +with the other):\n%s", name, diff)
		}
	}
}

// The figures of a realistic run are consistent with one another.
func TestFiguresAreConsistent(t *testing.T) {
	m := from(t, measuretest.Log(3, 5*time.Second))
	for i, s := range m.Result.Subjects {
		check(t, s, m.Series.Subjects[i])
		if !s.Valid {
			t.Errorf("%s is not valid: %q", s.Name, s.Invalid)
		}
	}
	dynamic, reload := m.Result.Subjects[0], m.Result.Subjects[1]
	if dynamic.Reloads != 0 || reload.Reloads == 0 {
		t.Errorf("reloads: dynamic %d, reload %d", dynamic.Reloads, reload.Reloads)
	}
	if dynamic.Requests.Failed != 0 || reload.Requests.Failed == 0 {
		t.Errorf("failed: dynamic %d, reload %d", dynamic.Requests.Failed, reload.Requests.Failed)
	}
	if dynamic.Changes.Converged != dynamic.Changes.Made {
		t.Errorf("dynamic: %+v", dynamic.Changes)
	}
}

// check asserts properties of every log.
func check(t testing.TB, s measure.Subject, l measure.Timeline) {
	t.Helper()
	var requests, failed, lanes, changes, unwatched int
	for _, b := range l.Bins {
		requests += b.Requests
		changes += b.Changes
		for _, n := range b.Failures {
			failed += n
		}
	}
	for _, lane := range s.Lanes {
		lanes += lane.Sent
	}
	for _, c := range l.Changes {
		if c.Fate == measure.Unwatched {
			unwatched++
		}
		if c.Last >= 0 && c.Last < c.First {
			t.Errorf("change %d was served by all workers before the first: %+v", c.ID, c)
		}
	}
	c := s.Changes
	for what, holds := range map[string]bool{
		"the bins contain every request":            requests == s.Requests.Sent && failed == s.Requests.Failed,
		"the lanes contain every request":           lanes == s.Requests.Sent,
		"every change has one outcome":              c.Made == c.Failed+c.Converged+c.Superseded+c.Unconverged+unwatched && c.Made == len(l.Changes),
		"every reload is listed":                    s.Reloads == len(l.Reloads),
		"converged changes have a last convergence": s.Converge.Last.N == c.Converged,
		"quantiles are in order":                    ordered(s.Requests.Latency) && ordered(s.Converge.First) && ordered(s.Converge.Last),
		"the bound is a rate":                       s.Requests.Bound >= 0 && s.Requests.Bound <= 1,
		"valid means no reason against it":          s.Valid == (len(s.Invalid) == 0),
	} {
		if !holds {
			t.Errorf("%s: violated: %s", s.Name, what)
		}
	}
}

func ordered(d measure.Durations) bool {
	return 0 <= d.P50 && d.P50 <= d.P90 && d.P90 <= d.P99 && d.P99 <= d.Max
}

func FuzzFrom(f *testing.F) {
	var log bytes.Buffer
	lines := json.NewEncoder(&log)
	for i, e := range measuretest.Log(4, time.Second) {
		if i < 20 || i%97 == 0 || e.Phase != nil {
			if err := lines.Encode(e); err != nil {
				f.Fatal(err)
			}
		}
	}
	f.Add(log.String())
	f.Add(`{"at":0,"run":{"schema":"windtunnel.dev/events/v1","subjects":["a","a",""]}}
{"at":1,"subject":"a","phase":{"name":"round-begin","round":1}}
{"at":9223372036854775807,"subject":"a","request":{"lag":9223372036854775807,"took":1,"status":1}}
{"at":9223372036854775806,"subject":"a","change":{"id":1,"added":["p"]}}`)
	f.Fuzz(func(t *testing.T, log string) {
		result, series, err := measure.From(event.Read(strings.NewReader(log)))
		if err != nil {
			return
		}
		for i, s := range result.Subjects {
			check(t, s, series.Subjects[i])
		}
		if _, err := json.Marshal(result); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkFrom measures a million events.
func BenchmarkFrom(b *testing.B) {
	const million = 1_000_000
	events := measuretest.Log(5, 6*time.Minute)
	if len(events) < million {
		b.Fatalf("only %d events", len(events))
	}
	b.ReportAllocs()
	for b.Loop() {
		from(b, events[:million])
	}
}
