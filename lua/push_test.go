package lua_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/lua"
)

// withoutPolls returns Lua code that polls once an hour, so that workers only get changes by push.
func withoutPolls(t *testing.T) map[string]string {
	t.Helper()
	code, err := lua.FS.ReadFile("balancer.lua")
	if err != nil {
		t.Fatal(err)
	}
	rare := strings.Replace(string(code), "BACKENDS_SYNC_INTERVAL = 1\n", "BACKENDS_SYNC_INTERVAL = 3600\n", 1)
	if rare == string(code) {
		t.Fatal("balancer.lua has no line with the poll interval")
	}
	return map[string]string{"balancer.lua": rare}
}

func TestPushReachesEveryWorkerWithoutAPoll(t *testing.T) {
	s := start(t, setup{Replace: withoutPolls(t), Config: map[string]any{"backends_sync": "push", "backends_delta": true, "report_workers": true}})
	s.expectLog("could not parse backends data")
	s.expectLog("exited on signal 9")
	workers := s.accepting()
	sequence := s.sequence("[]")
	s.awaitServing(workers, sequence)

	for i := range 50 { // many per second
		sequence = s.mustPostDelta(sequence, delta{Changed: []backend{{Name: fmt.Sprint(i), Endpoints: pods(t, 1)}}, Removed: []string{}})
	}
	s.awaitServing(workers, sequence)

	// For invalid data every worker logs one error, and then serves the next POST.
	s.sequence("[{")
	s.nginx.Await("an error from each worker", func() bool {
		return strings.Count(s.nginx.ErrorLog(), "could not parse backends data") >= len(workers)
	})
	for range 200 { // while they check the version repeatedly
		s.serving()
	}
	sequence = s.sequence("[]")
	s.awaitServing(workers, sequence)
	if n := strings.Count(s.nginx.ErrorLog(), "could not parse backends data"); n != len(workers) {
		t.Errorf("%d workers logged %d errors", len(workers), n)
	}

	if err := syscall.Kill(workers[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	workers = s.accepting(workers[0])
	sequence = s.sequence("[]")
	s.awaitServing(workers, sequence)

	// A worker that checks for changes still exits.
	s.nginx.Reload()
	s.nginx.Await("the end of the old workers", func() bool {
		for _, worker := range workers {
			if _, err := os.Stat(fmt.Sprint("/proc/", worker.PID)); err == nil {
				return false
			}
		}
		return true
	})
	sequence = s.sequence("[]")
	s.awaitServing(s.accepting(), sequence)
}
