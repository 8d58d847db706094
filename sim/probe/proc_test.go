package probe

import (
	"os"
	"os/exec"
	"strings"
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

// Long command lines and lists of children are read whole.
func TestReadProc(t *testing.T) {
	for _, length := range []int{1, 2047, 4095, 4096, 10_000, 100_000} {
		long := strings.Repeat("x", length)
		cmd := exec.Command("sh", "-c", "echo; read line", long)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Skip(err)
		}
		if _, err := out.Read(make([]byte, 1)); err != nil { // its command line may be empty while it starts
			t.Error(err)
		}
		if got := Command(cmd.Process.Pid); len(got) != 4 || got[3] != long {
			t.Errorf("an argument of %d bytes: read %d bytes as %d arguments", length, len(strings.Join(got, " ")), len(got))
		}
		in.Close()
		cmd.Wait()
	}
	if _, err := readProc("/proc/0/cmdline"); !gone(err) {
		t.Errorf("no process: %v", err)
	}
}

func BenchmarkCommand(b *testing.B) {
	for b.Loop() {
		Command(os.Getpid())
	}
}
