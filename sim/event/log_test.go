package event_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/event"
)

func read(t *testing.T, text string) ([]event.Event, error) {
	t.Helper()
	var all []event.Event
	for e, err := range event.Read(strings.NewReader(text)) {
		if err != nil {
			return all, err
		}
		all = append(all, e)
	}
	return all, nil
}

func TestWriteThenRead(t *testing.T) {
	start := time.Now()
	want := []event.Event{
		{Run: &event.Run{Schema: event.Schema, Scenario: "s", Seed: 7, Start: start.UTC().Round(0), Subjects: []string{"a", "b"}}},
		{At: time.Second, Subject: "a", Phase: &event.Phase{Name: event.RoundBegin, Round: 1}},
		{At: 2 * time.Second, Subject: "a", Request: &event.Request{Lane: "http", Took: time.Millisecond, Cause: event.Reset}},
	}
	var out bytes.Buffer
	log := event.NewLog(&out, start)
	for _, e := range want {
		log.Write(e)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, out.String())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
}

func TestTimesCountFromTheStart(t *testing.T) {
	start := time.Now().Add(-time.Minute)
	log := event.NewLog(&bytes.Buffer{}, start)
	if got := log.At(start.Add(3 * time.Second)); got != 3*time.Second {
		t.Errorf("At = %v, want 3s", got)
	}
	if got := log.Now(); got < time.Minute {
		t.Errorf("Now = %v, a minute after the start", got)
	}
}

func TestConcurrentWritersWriteWholeLines(t *testing.T) {
	var out bytes.Buffer
	log := event.NewLog(&out, time.Now())
	tapped := 0
	log.Tap(func(event.Event) { tapped++ })
	const writers, each = 8, 500
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				log.Write(event.Event{Subject: fmt.Sprint(w), Answer: &event.Answer{Change: i}})
			}
		})
	}
	writing.Wait()
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := read(t, out.String())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != writers*each || tapped != len(got) {
		t.Errorf("%d events read and %d seen by the tap, %d written", len(got), tapped, writers*each)
	}
	next := map[string]int{}
	for _, e := range got {
		if e.Answer.Change != next[e.Subject] {
			t.Fatalf("writer %s: got event %d, want %d", e.Subject, e.Answer.Change, next[e.Subject])
		}
		next[e.Subject]++
	}
}

// lines counts the lines that are written to it.
type lines struct{ atomic.Int32 }

func (l *lines) Write(p []byte) (int, error) {
	l.Add(int32(bytes.Count(p, []byte("\n"))))
	return len(p), nil
}

// A process may be killed at any time, so a log does not keep its events until it is closed: the run is
// written at once, other events within a second. After Close it writes nothing on its own.
func TestEventsAreWrittenBeforeClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out lines
		log := event.NewLog(&out, time.Now())
		written := func(want int32) {
			t.Helper()
			synctest.Wait()
			if got := out.Load(); got != want {
				t.Errorf("%d events were written, want %d", got, want)
			}
		}
		log.Write(event.Event{Run: &event.Run{Schema: event.Schema}})
		written(1)
		for range 2 {
			log.Write(event.Event{Host: &event.Host{}})
		}
		written(1)
		time.Sleep(time.Second)
		written(3)
		log.Write(event.Event{Host: &event.Host{}})
		time.Sleep(time.Second)
		written(4)
		log.Write(event.Event{Host: &event.Host{}})
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		written(5)
		log.Write(event.Event{Host: &event.Host{}})
		time.Sleep(time.Minute)
		written(5)
	})
}

type full struct{ err error }

func (f full) Write([]byte) (int, error) { return 0, f.err }

func TestCloseReturnsAWriteError(t *testing.T) {
	disk := errors.New("disk full")
	log := event.NewLog(full{disk}, time.Now())
	for range 10_000 { // more than the buffer holds
		log.Write(event.Event{Host: &event.Host{}})
	}
	if err := log.Close(); !errors.Is(err, disk) {
		t.Errorf("Close = %v, want %v", err, disk)
	}
}

// A run without a log is useless, so its caller learns of the first failure and can end it.
func TestAFailureIsReportedOnce(t *testing.T) {
	disk := errors.New("disk full")
	log := event.NewLog(full{disk}, time.Now())
	var reported []error
	log.OnFailure(func(err error) { reported = append(reported, err) })
	for range 10_000 {
		log.Write(event.Event{Host: &event.Host{}})
	}
	if err := log.Close(); !errors.Is(err, disk) || len(reported) != 1 || !errors.Is(reported[0], disk) {
		t.Errorf("Close = %v, reported %v, want %v once", err, reported, disk)
	}
	late := false
	log.OnFailure(func(error) { late = true })
	if !late {
		t.Error("a failure before the call is not reported")
	}
}

func TestInvalidLineIsReported(t *testing.T) {
	got, err := read(t, "{\"at\":1}\n{\"at\":2}\nnot JSON\n")
	if len(got) != 2 || err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("%d events, error %v; want 2 and one that names line 3", len(got), err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("{\"at\":1,\"subject\":\"a\",\"change\":{\"id\":1}}\n")
	f.Add("{\"run\":{\"start\":\"2026-01-01T00:00:00Z\"}}")
	f.Add("\n\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, err := range event.Read(strings.NewReader(text)) {
			if err != nil {
				return // an error ends the sequence
			}
		}
	})
}

// A killed run leaves an incomplete last line. The lines before it are read.
func TestTruncatedLogIsRead(t *testing.T) {
	const whole = `{"at":5,"subject":"a","phase":{"name":"round-begin","round":1}}` + "\n"
	for cut := 1; cut < len(whole)-1; cut++ {
		all, err := read(t, whole+whole[:cut])
		if err != nil || len(all) != 3 {
			t.Fatalf("cut after %d bytes: %v, %v", cut, all, err)
		}
		if trouble, end := all[1], all[2]; trouble.Trouble == nil || !strings.Contains(trouble.Trouble.Detail, "line 2 is cut off") ||
			end.Phase == nil || end.Phase.Name != event.Cut || end.At != 5 {
			t.Fatalf("cut after %d bytes: %+v, %+v", cut, trouble, end)
		}
	}
	if all, err := read(t, whole+strings.TrimSpace(whole)); err != nil || len(all) != 2 {
		t.Errorf("only the end of the line is missing: %v, %v", all, err)
	}
	if _, err := read(t, whole+whole[:20]+"\n"+whole); err == nil || !strings.Contains(err.Error(), "line 2") {
		t.Errorf("a bad line in the middle: %v", err)
	}
	if _, err := read(t, whole[:20]); err == nil {
		t.Error("no event at all: no error")
	}
}
