package subject_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

func TestSubjectsShareTheScenariosConfig(t *testing.T) {
	s := &scenario.Scenario{Spec: scenario.Spec{
		Config: map[string]string{"worker-processes": "2", "keep-alive": "75"},
		Subjects: []scenario.Subject{
			{Name: "a", Controller: subject.Bundled},
			{Name: "b", Controller: "/bin/fork", Flags: map[string]string{"v": "2"}, Config: map[string]string{"keep-alive": "5"}},
		},
	}}
	want := []subject.Subject{
		{Name: "a", Controller: subject.Bundled, Config: map[string]string{"worker-processes": "2", "keep-alive": "75"}},
		{Name: "b", Controller: "/bin/fork", Flags: map[string]string{"v": "2"}, Config: map[string]string{"worker-processes": "2", "keep-alive": "5"}},
	}
	if diff := cmp.Diff(want, subject.Of(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestArgsAreInOrder(t *testing.T) {
	got := subject.Args(map[string]string{"v": "2", "http-port": "80"})
	if diff := cmp.Diff([]string{"--http-port=80", "--v=2"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FollowLog keeps a controller's log unchanged and turns its syncs into events. It ignores lines of
// any other form.
func TestFollowLog(t *testing.T) {
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	text := `I0101 00:00:00 a line of klog
{"time":"2026-01-01T00:00:01Z","level":"INFO","msg":"ready"}
{"time":"2026-01-01T00:00:02Z","level":"INFO","msg":"sync","took":5000000,"reload":true,"why":["server a: + location /"],"posts":[{"path":"/configuration/backends","bytes":12,"took":7}],"phases":{"render":1},"error":"","change":9}
{"not": "finished`
	bundled, err := adapters.Find("")
	if err != nil {
		t.Fatal(err)
	}
	setup, err := bundled.Expand(adapter.Data{})
	if err != nil {
		t.Fatal(err)
	}
	var kept, events bytes.Buffer
	log := event.NewLog(&events, start)
	if err := subject.FollowLog(strings.NewReader(text), &kept, log, "a", setup.Read); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if kept.String() != text {
		t.Errorf("kept %q", kept.String())
	}
	var got []event.Event
	for e, err := range event.Read(&events) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	want := []event.Event{{At: 2 * time.Second, Subject: "a", Sync: &event.Sync{
		Took: 5 * time.Millisecond, Reload: true, Why: []string{"server a: + location /"},
		Posts: []event.Post{{Path: "/configuration/backends", Bytes: 12, Took: 7}}, Phases: &event.Phases{Render: 1},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

type fullDisk struct{ writes int }

func (f *fullDisk) Write([]byte) (int, error) {
	f.writes++
	return 0, syscall.ENOSPC
}

// A full disk does not stop a controller: its log is read to the end, and its syncs are events.
func TestFollowLogReadsOnIfTheLogCannotBeKept(t *testing.T) {
	var events bytes.Buffer
	log := event.NewLog(&events, time.Now())
	read := func([]byte) (*event.Sync, time.Time) { return &event.Sync{}, time.Time{} }
	disk := &fullDisk{}
	if err := subject.FollowLog(strings.NewReader("one\ntwo\nthree"), disk, log, "a", read); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("FollowLog = %v, want %v", err, syscall.ENOSPC)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	var syncs, troubles int
	for e, err := range event.Read(&events) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Sync != nil:
			syncs++
		case e.Trouble != nil:
			troubles++
		}
	}
	if disk.writes != 3 || syncs != 3 || troubles != 1 {
		t.Errorf("%d writes, %d syncs, %d troubles; want 3, 3, 1", disk.writes, syncs, troubles)
	}
}

// Each event.Logged has the position in the file of a line written at its time, even after the file was
// reopened.
func TestLogFileMarksTimes(t *testing.T) {
	dir := t.TempDir()
	var events bytes.Buffer
	log := event.NewLog(&events, time.Now())
	const first, second = "one\ntwo\n", "three\n"
	for _, lines := range []string{first, second} {
		file, err := subject.OpenLog(dir, log, "a")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(file, lines); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(nil); err != nil { // the end of a log that ends with a line
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, subject.LogName))
	if err != nil {
		t.Fatal(err)
	}
	var marked []string
	for e, err := range event.Read(&events) {
		if err != nil {
			t.Fatal(err)
		}
		marked = append(marked, string(text[e.Logged.Bytes:]))
	}
	if want := []string{first + second, second}; !slices.Equal(marked, want) {
		t.Errorf("the marks are before %q, want %q", marked, want)
	}
}
