package probe

import (
	"os"
	"os/exec"
	"testing"
)

func TestExists(t *testing.T) {
	if !Exists(os.Getpid()) {
		t.Error("this process does not exist")
	}
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if Exists(child.Process.Pid) {
		t.Error("a process that has been reaped still exists")
	}
}
