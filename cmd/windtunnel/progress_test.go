package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/jedib0t/go-pretty/v6/text"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/watch"
)

// watchedRun returns a run in the middle of its first turn, with failures of the subject whose turn it is.
func watchedRun() *watch.Run {
	run := watch.Of(&scenario.Scenario{Spec: scenario.Spec{
		Rounds: 2, Settle: 20 * time.Second, Subjects: []scenario.Subject{{Name: "dynamic"}, {Name: "reload"}},
		Timeline: []scenario.Step{{Churn: scenario.RollingUpdate, For: time.Hour}},
	}})
	see := func(at time.Duration, subject string, e event.Event) { e.At, e.Subject = at, subject; run.See(e) }
	for _, name := range []string{"dynamic", "reload"} {
		see(1, name, event.Event{Worker: &event.Worker{PID: 7, Master: 1, Generation: 1, State: event.Active}})
		see(1, name, event.Event{Phase: &event.Phase{Name: event.Ready}})
	}
	see(2, "reload", event.Event{Phase: &event.Phase{Name: event.RoundBegin, Round: 1}})
	see(3, "reload", event.Event{Change: &event.Change{ID: 1, Host: "h", Added: []string{"new"}, Removed: []string{"old"}, Pods: 1}})
	see(3, "reload", event.Event{Change: &event.Change{ID: 2, Host: "h", Added: []string{"newer"}, Pods: 1}})
	see(40*time.Millisecond, "reload", event.Event{Answer: &event.Answer{Worker: 7, Change: 1, Pod: "new", Status: 200}})
	see(50*time.Millisecond, "reload", event.Event{Request: &event.Request{Lane: "http", Pod: "old", Status: 200}})
	for i, cause := range []event.Cause{event.Reset, event.IdleClose, event.IdleClose} {
		see(time.Duration(i+60)*time.Millisecond, "reload", event.Event{Request: &event.Request{Lane: "post", Cause: cause}})
	}
	see(time.Second, "reload", event.Event{Worker: &event.Worker{PID: 8, Master: 1, Generation: 2, State: event.Active}})
	return run
}

// The table omits columns that do not fit, and no line is longer than the terminal is wide.
func TestProgressTable(t *testing.T) {
	status := watchedRun().Status()
	status.Took, status.Waits = 12*time.Minute, "waits for the end of the timeline, in 18m0s"
	for _, width := range []int{120, 80, 40, 10} {
		table := progressTable{paint: func(_ text.Color, s string) string { return s }, width: width}.render(status)
		for line := range strings.Lines(table) {
			if n := text.StringWidth(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%d columns of %d: %q", n, width, line)
			}
		}
		golden.Check(t, fmt.Sprintf("testdata/progress-%d.golden", width), []byte(table+"\n"))
	}
}

// terminal records what a program writes to a terminal.
type terminal struct {
	mu      sync.Mutex
	written bytes.Buffer
}

func (w *terminal) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.Write(p)
}

func (w *terminal) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.written.String()
}

// The table appears, sends no queries to the terminal, because nobody reads the answers, and
// restores the cursor.
func TestTableOnATerminal(t *testing.T) {
	var out terminal
	end := showTable(watchedRun(), &out, tea.WithWindowSize(100, 40), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
	for !strings.Contains(out.String(), "2 idle-close") {
		if t.Context().Err() != nil {
			t.Fatalf("the table does not appear: %q", out.String())
		}
		time.Sleep(5 * time.Millisecond)
	}
	end()
	written := out.String()
	for _, query := range []string{"\x1b[c", "\x1b[6n", "$p", "\x1b[?u", "\x1b]11;?", "\x1b[?2004h"} {
		if strings.Contains(written, query) {
			t.Errorf("it asks the terminal %q: %q", query, written)
		}
	}
	if hidden, shown := strings.LastIndex(written, "\x1b[?25l"), strings.LastIndex(written, "\x1b[?25h"); hidden > shown {
		t.Errorf("the cursor stays hidden: %q", written)
	}
	if strings.Contains(written, "\x1b[?1049h") {
		t.Error("it takes the whole screen, and what was printed before is not seen")
	}
}

// Lines say what the run does, what it waits for, and the counts so far.
func TestProgressLine(t *testing.T) {
	line := progressLine(watchedRun().Status())
	for _, want := range []string{"turn 1/4 reload: changing ....................", "waits for the end of the timeline", "changes 2  reloads 1  requests 4  failed 3"} {
		if !strings.Contains(line, want) {
			t.Errorf("%q lacks %q", line, want)
		}
	}
	starting := watch.Of(&scenario.Scenario{Spec: scenario.Spec{Rounds: 1, Subjects: []scenario.Subject{{Name: "a"}}}}).Status()
	starting.Took = 2 * time.Second
	if line := progressLine(starting); line != "starting, 2s: waits until a serves every host of the population" {
		t.Errorf("%q", line)
	}
}

func TestPlainProgress(t *testing.T) {
	t.Setenv("CI", "")
	file, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, out := range []io.Writer{new(bytes.Buffer), file} {
		if !(progressFlags{}).plain(out) {
			t.Errorf("%T gets a table", out)
		}
	}
	t.Setenv("TERM", "xterm")
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal here: %v", err)
	}
	defer terminal.Close()
	if (progressFlags{}).plain(terminal) || !(progressFlags{quiet: true}).plain(terminal) {
		t.Error("a terminal gets lines without --quiet, or a table with it")
	}
}

// The progress of cases updates one line, which is cleared before other output. Plain lines come only
// every few seconds.
func TestCaseProgress(t *testing.T) {
	shown := func(plain bool) string {
		var out bytes.Buffer
		progress := showCaseProgress(&out, 2, plain)
		progress.done(behave.Result{Outcome: behave.Passed}, func() { out.WriteString("a line\n") })
		progress.end()
		return out.String()
	}
	if got, want := shown(false), "0 of 2 cases\r\033[Ka line\n1 of 2 cases: 1 passed\r\033[K"; got != want {
		t.Errorf("on a terminal %q, want %q", got, want)
	}
	if got, want := shown(true), "a line\n"; got != want {
		t.Errorf("plain %q, want %q", got, want)
	}
}
