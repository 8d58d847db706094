package probe

import (
	"bufio"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"
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

func TestPastInit(t *testing.T) {
	// The outer bash is the init process: its command line ends with that of its child.
	init := exec.Command("bash", "-c", `"${@:1}" <&0 & wait`, "bash", "bash", "-c", "echo there; read")
	in, err := init.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := init.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := init.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { in.Close(); init.Wait() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	child := process.Children(init.Process.Pid)
	if got := PastInit(init.Process.Pid); len(child) != 1 || got != child[0] {
		t.Errorf("past the init process is %d, want %v", got, child)
	}
	if got := PastInit(os.Getpid()); got != os.Getpid() {
		t.Errorf("past this process is %d, want itself, %d", got, os.Getpid())
	}
}

// A finder does not search while the master lives, and searches for another one afterwards.
func TestFinderKeepsTheMaster(t *testing.T) {
	parent, child := family(t, "nginx: master process nginx")
	searches := 0
	controller := func() (int, error) { searches++; return parent, nil }
	var finder Finder
	for range 3 {
		if got, err := finder.Master(controller, titled); err != nil || got != child {
			t.Fatalf("found %d, %v, want %d", got, err, child)
		}
	}
	if searches != 1 {
		t.Errorf("it searched %d times for a master that lives", searches)
	}
	if err := syscall.Kill(child, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for IsMaster(child, titled) { // until the kernel has ended it
		runtime.Gosched()
	}
	if got, err := finder.Master(controller, titled); !errors.Is(err, ErrNoMaster) {
		t.Errorf("found %d, %v after the end of the only master", got, err)
	}
}
