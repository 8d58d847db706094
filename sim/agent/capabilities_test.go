package agent

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/prometheus/procfs"
)

// A process of root has capabilities that one of another user lacks.
func TestCapabilities(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root has capabilities")
	}
	self, err := procfs.Self()
	if err != nil {
		t.Fatal(err)
	}
	sleep := exec.Command("sleep", "60")
	sleep.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if err := sleep.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = sleep.Process.Kill()
		_ = sleep.Wait()
	})
	other, err := procfs.NewProc(sleep.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	if !hasMoreCapabilities(self, other) || hasMoreCapabilities(other, self) || hasMoreCapabilities(self, self) {
		t.Error("want only root's process to have more")
	}
}
