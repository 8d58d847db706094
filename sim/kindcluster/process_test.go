package kindcluster

import (
	"slices"
	"testing"

	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/process"
)

// A process that kubectl exec starts in a container has no parent in it either.
func TestFirstProcess(t *testing.T) {
	main := sleeper(t)
	executed := sleeper(t)
	for startOf(t, executed) == startOf(t, main) { // in ticks of 10 ms
		executed = sleeper(t)
	}
	pids := []int{main, executed}
	for range pids {
		if got := first(pids); got != main {
			t.Errorf("the first of %v is %d, want %d", pids, got, main)
		}
		slices.Reverse(pids)
	}
	if got := first(nil); got != 0 {
		t.Errorf("the first of none is %d", got)
	}
}

func sleeper(t *testing.T) int {
	t.Helper()
	sleep := command.New(t.Context(), "sleep", "60")
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = sleep.Wait() })
	return sleep.Process.Pid
}

func startOf(t *testing.T, pid int) uint64 {
	t.Helper()
	at, err := process.StartTime(pid)
	if err != nil {
		t.Fatal(err)
	}
	return at
}
