package probe

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"slices"
	"testing"

	"windtunnel.dev/internal/process"
)

// family starts a shell with a child that has the given title, and returns both PIDs when the child
// runs.
func family(t *testing.T, title string) (parent, child int) {
	t.Helper()
	// The child reports when it runs, and ends when its input does.
	shell := exec.Command("bash", "-c", `(exec -a "$0" bash -c 'echo there; read <&3' -) & wait`, title)
	in, stop, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	shell.ExtraFiles = []*os.File{in}
	out, err := shell.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := shell.Start(); err != nil {
		t.Skip(err)
	}
	in.Close()
	t.Cleanup(func() { stop.Close(); shell.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	all := process.Below(shell.Process.Pid)
	if len(all) == 0 {
		t.Fatal("the shell has no child")
	}
	return shell.Process.Pid, all[len(all)-1]
}

func TestMasterOf(t *testing.T) {
	parent, child := family(t, "nginx: master process nginx")
	if got, err := MasterOf(os.Getpid(), titled); err != nil || got != child {
		t.Errorf("below this process: %d, %v, want %d", got, err, child)
	}
	if got, err := MasterOf(parent, titled); err != nil || got != child {
		t.Errorf("below its parent: %d, %v, want %d", got, err, child)
	}
	if all := process.Below(os.Getpid()); slices.Index(all, parent) > slices.Index(all, child) || !slices.Contains(all, parent) {
		t.Errorf("%v does not list %d before %d", all, parent, child)
	}
}

func TestThereIsNoMaster(t *testing.T) {
	parent, _ := family(t, "nginx: worker process")
	if got, err := MasterOf(parent, titled); !errors.Is(err, ErrNoMaster) {
		t.Errorf("found %d, %v", got, err)
	}
	if Command(1<<22+1) != nil || len(process.Below(1<<22+1)) != 0 {
		t.Error("a process that cannot exist has a command or children")
	}
}
