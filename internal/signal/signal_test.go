package signal_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/internal/signal"
)

// Send rejects PIDs that kill(2) takes for process groups.
func TestNoSignalToProcessGroups(t *testing.T) {
	for _, pid := range []int{0, -os.Getpid()} {
		if err := signal.Send(pid, 0); err == nil || !strings.Contains(err.Error(), "not there") {
			t.Errorf("%d: %v", pid, err)
		}
	}
}

func TestNoProcess(t *testing.T) {
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	if err := signal.Send(ended.Process.Pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("got %v", err)
	}
}
