package probe

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

func TestHostBetween(t *testing.T) {
	last := hostSample{cpu: procfs.CPUStat{User: 10, Idle: 100, Iowait: 5}, dropped: 7}
	for name, c := range map[string]struct {
		cpu  procfs.CPUStat
		want event.Host
	}{
		"idle":             {procfs.CPUStat{User: 10, Idle: 110, Iowait: 5}, event.Host{}},
		"busy":             {procfs.CPUStat{User: 13, System: 3, SoftIRQ: 1, Idle: 101, Iowait: 7}, event.Host{Busy: 0.7}},
		"stolen":           {procfs.CPUStat{User: 12, Idle: 106, Iowait: 5, Steal: 2}, event.Host{Busy: 0.4, Stolen: 0.2}},
		"guests":           {procfs.CPUStat{User: 15, Guest: 5, Idle: 105, Iowait: 5}, event.Host{Busy: 0.5}},
		"iowait goes back": {procfs.CPUStat{User: 20, Idle: 100, Iowait: 4}, event.Host{Busy: 1}},
		"no time":          {last.cpu, event.Host{}},
	} {
		now := hostSample{cpu: c.cpu, dropped: 9}
		if got := *hostBetween(last, now); got.Dropped != 2 || !near(got.Busy, c.want.Busy) || !near(got.Stolen, c.want.Stolen) {
			t.Errorf("%s: %+v, want %+v and 2 dropped packets", name, got, c.want)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// machine is a folder like /proc.
func machine(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "net/stat"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(folder, "stat"), "cpu  100 0 0 100 0 0 0 0 0 0\n")
	return folder
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// tracked returns /proc/net/stat/nf_conntrack of a machine whose processors have dropped packets.
func tracked(dropped ...int) string {
	text := "entries  clashres found new invalid ignore delete chainlength insert insert_failed drop early_drop icmp_error  expect_new expect_create expect_delete search_restart\n"
	for _, n := range dropped {
		text += strings.Repeat("00000003 ", 10) + fmt.Sprintf("%08x", n) + strings.Repeat(" 00000003", 6) + "\n"
	}
	return text
}

// watch samples a machine in each of its states, and once more when the run has ended.
func watch(t *testing.T, folder string, states ...func()) (events []event.Event) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var buf bytes.Buffer
		log := event.NewLog(&buf, time.Now())
		ctx, cancel := context.WithCancel(t.Context())
		ticks := make(chan time.Time)
		go watchHost(ctx, log, folder, ticks)
		for i, state := range states {
			synctest.Wait()
			state()
			if i == len(states)-1 {
				break
			}
			ticks <- time.Time{}
		}
		cancel()
		synctest.Wait()
		if err := log.Close(); err != nil {
			t.Fatal(err)
		}
		for e, err := range event.Read(&buf) {
			if err != nil {
				t.Fatal(err)
			}
			events = append(events, e)
		}
	})
	return events
}

func TestHostEachTick(t *testing.T) {
	idle := func() {}
	events := watch(t, machine(t), idle, idle, idle)
	if len(events) != 3 {
		t.Fatalf("logged %+v, want a host event for each tick and for the end", events)
	}
	for _, e := range events {
		if e.Host == nil || e.Subject != "" {
			t.Errorf("logged %+v, want a host event of no subject", e)
		}
	}
}

// The end of a run counts, although no tick follows it. Without connection tracking, the kernel has no
// such file.
func TestDroppedPackets(t *testing.T) {
	folder := machine(t)
	drop := func(dropped ...int) func() {
		return func() { put(t, filepath.Join(folder, "net/stat/nf_conntrack"), tracked(dropped...)) }
	}
	idle := func() {}
	events := watch(t, folder, idle, drop(1, 0), drop(5, 16), idle, drop(5, 17))
	var got []int
	for _, e := range events {
		got = append(got, e.Host.Dropped)
	}
	if want := []int{0, 1, 20, 0, 1}; !slices.Equal(got, want) {
		t.Errorf("dropped packets: %d, want %d", got, want)
	}
}

func TestWatchHostEnds(t *testing.T) {
	r := newRun(t)
	done := WatchHost(r.ctx, r.Log)
	r.cancel()
	<-done
	r.end()
}
