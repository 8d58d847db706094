package isolated_test

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/internal/process"
)

func allowed(t *testing.T) {
	t.Helper()
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
}

// folder creates a folder with a file.
func folder(t *testing.T, name, content string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// shell returns a command that runs a script with a view.
func shell(t *testing.T, v isolated.View, script string) *exec.Cmd {
	t.Helper()
	v.Scratch = t.TempDir()
	wrapped, err := v.Wrap(isolated.Command{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	command := &exec.Cmd{Path: wrapped.Path, Args: wrapped.Args, Env: wrapped.Env, SysProcAttr: &syscall.SysProcAttr{}, WaitDelay: time.Second}
	v.Attributes(command.SysProcAttr)
	t.Cleanup(func() {
		if left, err := os.ReadDir(v.Scratch); err != nil || len(left) > 0 {
			t.Errorf("the scratch folder has %v, %v", left, err)
		}
	})
	return command
}

func run(t *testing.T, v isolated.View, script string) string {
	t.Helper()
	out, err := shell(t, v, script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// The command sees its own folders at paths that exist on the machine and at paths that do not, and
// everything else as it is. The machine does not see the files that the command writes there.
func TestFolders(t *testing.T) {
	allowed(t)
	there, parent := folder(t, "machine", "m"), folder(t, "beside", "b")
	missing, other := filepath.Join(parent, "a", "b"), filepath.Join(parent, "c")
	if err := os.Symlink("beside", filepath.Join(parent, "link")); err != nil {
		t.Fatal(err)
	}
	own, second, third := folder(t, "own", "o"), folder(t, "second", "s"), folder(t, "third", "t")
	got := run(t, isolated.View{Folders: map[string]string{there: own, missing: second, other: third}}, strings.Join([]string{
		"ls " + there, "ls " + missing, "ls " + other, "cat " + parent + "/beside " + parent + "/link", "echo; touch " + there + "/written " + missing + "/written",
	}, "; "))
	if want := "own\nsecond\nthird\nbb"; got != want {
		t.Errorf("the command sees %q, want %q", got, want)
	}
	for path, want := range map[string]bool{
		filepath.Join(there, "written"): false, missing: false, other: false, filepath.Join(parent, "a"): false,
		filepath.Join(own, "written"): true, filepath.Join(second, "written"): true,
	} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s exists on the machine: %t, want %t", path, err == nil, want)
		}
	}
}

// A path may lead through a link, as /var/run does on Debian. The command sees its folder there and where
// the link leads, beside the folders and sockets of the machine.
func TestFoldersBehindALink(t *testing.T) {
	allowed(t)
	parent, run1, run2 := folder(t, "beside", "b"), folder(t, "first", "1"), folder(t, "second", "2")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(parent, link); err != nil {
		t.Fatal(err)
	}
	socket, err := net.Listen("unix", filepath.Join(parent, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	got := run(t, isolated.View{Folders: map[string]string{filepath.Join(link, "a", "b"): run1, filepath.Join(parent, "c"): run2}},
		"cat "+link+"/beside; echo; ls "+link+"/a/b; ls "+parent+"/a/b; ls "+link+"/c; test -S "+parent+"/socket && echo socket")
	if want := "b\nfirst\nfirst\nsecond\nsocket"; got != want {
		t.Errorf("the command sees %q, want %q", got, want)
	}
	for _, name := range []string{"a", "c"} {
		if _, err := os.Stat(filepath.Join(parent, name)); err == nil {
			t.Errorf("%s exists on the machine", name)
		}
	}
}

func TestProcesses(t *testing.T) {
	allowed(t)
	out := run(t, isolated.View{Processes: true}, "ls -d /proc/[0-9]* | wc -l; kill -0 "+"$PPID && echo parent")
	lines := strings.Split(out, "\n")
	if n := strings.TrimSpace(lines[0]); len(n) > 1 || len(lines) != 2 {
		t.Errorf("the command sees %q", out)
	}
}

// The wrapper passes signals on, ends as the command does, and leaves nothing behind.
func TestWrapper(t *testing.T) {
	allowed(t)
	for script, want := range map[string]int{
		"trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done": 7,
		"(sleep 1000 &) ; echo ready; kill -TERM $$; sleep 1000":       128 + int(syscall.SIGTERM),
	} {
		command := shell(t, isolated.View{Processes: true}, script)
		out, err := command.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := command.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		if want == 7 {
			main := isolated.Main(command.Process.Pid)
			if main == 0 || isolated.Is(main, main) {
				t.Errorf("the command is process %d here, and the same in its view", main)
			}
			if err := command.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
		}
		command.Wait()
		if got := command.ProcessState.ExitCode(); got != want {
			t.Errorf("%s: exit code %d, want %d", script, got, want)
		}
	}
}

func TestHostPID(t *testing.T) {
	allowed(t)
	command := shell(t, isolated.View{Processes: true}, "sleep 1000 & echo $!; read line")
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	inner, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	pid := isolated.HostPID(command.Process.Pid, inner)
	if all := process.Children(isolated.Main(command.Process.Pid)); !slices.Contains(all, pid) {
		t.Errorf("process %d of the view is %d here, which is none of %v", inner, pid, all)
	}
	command.Process.Kill()
	command.Wait()
	if _, err := os.Stat(filepath.Join("/proc", strconv.Itoa(pid))); err == nil {
		t.Error("a process survived the wrapper")
	}
}

func TestErrors(t *testing.T) {
	allowed(t)
	for name, test := range map[string]struct {
		folders map[string]string
		want    string
	}{
		"below the root": {map[string]string{"/no-such-folder-here/x": "/tmp"}, "no such folder"},
		"over a file":    {map[string]string{"/etc/passwd": "/tmp"}, "no folder"},
	} {
		out, err := shell(t, isolated.View{Folders: test.folders}, "true").CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.want) {
			t.Errorf("%s: %v, %s", name, err, out)
		}
	}
}

// A command with a root of its own sees nothing of the machine's files, and runs as a user of its own,
// who may open its output by its path. The machine sees its files only below that root.
func TestRoot(t *testing.T) {
	allowed(t)
	if os.Geteuid() != 0 {
		t.Skip("a root of its own needs root")
	}
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Dir(root)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "own"), 0o777); err != nil || os.Chmod(filepath.Join(root, "own"), 0o777) != nil {
		t.Fatal(err)
	}
	copyProgram(t, root, "/bin/sh", "/bin/cat", "/bin/ls", "/usr/bin/id")
	for _, dir := range []string{"run", "var"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/run", filepath.Join(root, "var", "run")); err != nil {
		t.Fatal(err)
	}
	given := folder(t, "given", "from outside\n")
	for _, dir := range []string{given, filepath.Dir(given)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	out := run(t, isolated.View{Root: root, Folders: map[string]string{"/var/run/a/b": given}, Processes: true, User: &isolated.User{UID: 4321, GID: 4322, Groups: []uint32{7}}}, strings.Join([]string{
		"id -u; id -G", "ls /", "ls /dev/null /dev/shm/..", "echo by path > /dev/stdout", "set -- /proc/[0-9]*; echo $# processes", "echo x > /own/file",
		"echo 1 2>&1 > /sys/kernel/profiling || echo /sys is read-only", "pwd", "cat /run/a/b/given /var/run/a/b/given",
	}, "\n"))
	for _, want := range []string{"4321\n4322 7\n", "\nown\n", "\nby path\n", "\n2 processes\n", "/sys is read-only", "full\nnull\n", "\n/\nfrom outside\nfrom outside"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "\nhome\n") {
		t.Errorf("it sees the machine's files: %s", out)
	}
	if content, err := os.ReadFile(filepath.Join(root, "own", "file")); err != nil || string(content) != "x\n" {
		t.Errorf("what it wrote: %q, %v", content, err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "run", "a", "b")); err != nil || len(left) > 0 {
		t.Errorf("left where the folder was: %v, %v", left, err)
	}
	if left, err := os.ReadDir(filepath.Join(root, "dev")); err != nil || len(left) > 0 {
		t.Errorf("left in /dev: %v, %v", left, err)
	}
}

// copyProgram copies programs of this machine, and the libraries that they need, below a root.
func copyProgram(t *testing.T, root string, programs ...string) {
	t.Helper()
	libraries, _ := exec.Command("ldd", programs...).Output()
	paths := slices.Concat(programs, strings.FieldsFunc(string(libraries), func(r rune) bool { return r == ' ' || r == '\t' || r == '\n' }))
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if !filepath.IsAbs(path) || err != nil {
			continue // the other words that ldd prints
		}
		to := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
