package lua_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/controller/announce"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/lua"
)

// withoutPolls returns Lua code that polls once an hour, so that workers only hear announcements.
func withoutPolls(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"balancer.lua", "tcp_udp_balancer.lua"} {
		code, err := lua.FS.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = strings.Replace(string(code), "BACKENDS_SYNC_INTERVAL = 1\n", "BACKENDS_SYNC_INTERVAL = 3600\n", 1)
		if files[name] == string(code) {
			t.Fatalf("%s has no line with the poll interval", name)
		}
	}
	return files
}

// socketForWorkers returns the path of a socket to which nginx's workers can connect.
func socketForWorkers(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "announcements")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "socket")
}

func openAnnouncer(t *testing.T, path string) *announce.Announcer {
	t.Helper()
	a, err := announce.Open(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	return a
}

func (s *site) awaitListeners(a *announce.Announcer, number int) {
	s.t.Helper()
	s.nginx.Await(fmt.Sprint(number, " workers that hear announcements"), func() bool { return a.Listeners() == number })
}

func TestAnnouncementsReachEveryWorkerWithoutAPoll(t *testing.T) {
	path := socketForWorkers(t)
	announcer := openAnnouncer(t, path)
	s := start(t, setup{Replace: withoutPolls(t), Config: map[string]any{"announcements": "unix:" + path, "backends_delta": true, "report_workers": true}})
	s.expectLog("could not parse backends data")
	s.expectLog("exited on signal 9")
	workers := s.accepting()
	s.awaitListeners(announcer, len(workers))
	announced := func(sequence int) int {
		announcer.Announce()
		return sequence
	}
	sequence := announced(s.sequence("[]"))
	s.awaitServing(workers, sequence)

	for i := range 50 { // many per second
		sequence = announced(s.mustPostDelta(sequence, delta{Changed: []backend{{Name: fmt.Sprint(i), Endpoints: pods(t, 1)}}, Removed: []string{}}))
	}
	s.awaitServing(workers, sequence)

	// For invalid data every worker logs an error, and then serves the next POST.
	announced(s.sequence("[{"))
	s.nginx.Await("an error from each worker", func() bool {
		return strings.Count(s.nginx.ErrorLog(), "could not parse backends data") >= len(workers)
	})
	s.awaitServing(workers, announced(s.sequence("[]")))

	// A worker that replaces a dead one also hears announcements.
	if err := syscall.Kill(workers[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	workers = s.accepting(workers[0])
	s.awaitListeners(announcer, len(workers))
	s.awaitServing(workers, announced(s.sequence("[]")))

	// A worker that waits for announcements still exits.
	s.nginx.Reload()
	s.awaitEnd(workers)
	workers = s.accepting()
	s.awaitListeners(announcer, len(workers))
	s.awaitServing(workers, announced(s.sequence("[]")))
}

// awaitEnd waits until workers have ended.
func (s *site) awaitEnd(workers []nginx.Worker) {
	s.t.Helper()
	s.nginx.Await("the end of the old workers", func() bool {
		for _, worker := range workers {
			if _, err := os.Stat(fmt.Sprint("/proc/", worker.PID)); err == nil {
				return false
			}
		}
		return true
	})
}

func TestWorkersFindTheControllerAgain(t *testing.T) {
	path := socketForWorkers(t)
	s := start(t, setup{Replace: withoutPolls(t), Config: map[string]any{"announcements": "unix:" + path, "report_workers": true}})
	s.expectLog("the controller does not announce changes")
	s.expectLog("connect() to unix:")
	workers := s.accepting()
	s.nginx.Await("a warning from each worker", func() bool {
		return strings.Count(s.nginx.ErrorLog(), "the controller does not announce changes") >= len(workers)
	})
	sequence := s.sequence("[]")
	for range 2 { // the second time after the controller ended
		announcer := openAnnouncer(t, path)
		s.awaitListeners(announcer, len(workers))
		s.awaitServing(workers, sequence) // they poll when they connect
		if err := announcer.Close(); err != nil {
			t.Fatal(err)
		}
		sequence = s.sequence("[]")
	}
	if n := strings.Count(s.nginx.ErrorLog(), "the controller does not announce changes"); n > 3*len(workers) {
		t.Errorf("%d workers warned %d times; want one warning for each outage", len(workers), n)
	}
}

func TestAnnouncementsReachTCPAndUDPEndpoints(t *testing.T) {
	path := socketForWorkers(t)
	announcer := openAnnouncer(t, path)
	s, w, control := streamSite(t, setup{Replace: withoutPolls(t), Config: map[string]any{"announcements": "unix:" + path}})
	s.awaitListeners(announcer, 2) // http and stream of one worker
	one := pods(t, 1)
	if answer := tell(t, control, line(t, backend{Name: "tcp-db", Endpoints: one})); answer != "" {
		t.Errorf("the answer is %q", answer)
	}
	announcer.Announce()
	s.nginx.Await("an answer of the pod", func() bool { return w.getPath("/tcp", "X-Upstream", "tcp-db").pod != "" })
}
