package guard

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/process"
)

// patience bounds every wait; only a failing test waits that long.
const patience = 20 * time.Second

// harnessVariable makes the test binary a harness that a test kills.
const harnessVariable = "WINDTUNNEL_TEST_HARNESS"

func TestMain(m *testing.M) {
	if os.Getenv(harnessVariable) != "" {
		beHarness()
	}
	os.Exit(m.Run())
}

// family is a command with one child that holds its output open and one that ignores SIGTERM.
const family = `sleep 1000 & (trap '' TERM; sleep 1000) & echo started; `

// runaway is a family with a child in its own session.
const runaway = `setsid sleep 1000 & ` + family

// beHarness starts a family and prints the folder and the PIDs of guard and command.
func beHarness() {
	g, err := New("harness")
	if err != nil {
		panic(err)
	}
	p, err := g.Start(exec.Command("sh", "-c", family+"tail -f "+filepath.Join(g.Dir, sessionFile)+" & wait"), os.Stderr)
	if err != nil {
		panic(err)
	}
	fmt.Println(g.Dir, g.command.Process.Pid, p.PID())
	select {}
}

func newGuard(t *testing.T) *Guard {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	g, err := New("test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// A guard that ends before it is ready is an error that says why.
func TestGuardThatDoesNotStart(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	failed := make(chan error, 1)
	go func() {
		_, err := New("no/folder")
		failed <- err
	}()
	select {
	case err := <-failed:
		if err == nil || !strings.Contains(err.Error(), "pattern contains path separator") {
			t.Errorf("error %v", err)
		}
	case <-time.After(patience):
		t.Fatal("New does not return")
	}
}

func begin(t *testing.T, g *Guard, script string, out *bytes.Buffer) *Process {
	t.Helper()
	p, err := g.Start(exec.Command("sh", "-c", script), out)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func wait(t *testing.T, p *Process) error {
	t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(patience):
		t.Fatal("Wait does not return")
		return nil
	}
}

// When a command ends, everything that it started ends, even a process that holds the output open.
func TestNothingOutlivesTheCommand(t *testing.T) {
	g := newGuard(t)
	for _, how := range []struct{ script, want string }{
		{runaway + "exit 0", ""},
		{runaway + "exit 3", "exit status 3"},
		{runaway + "kill -9 $$", "signal: killed"},
	} {
		var out bytes.Buffer
		err := wait(t, begin(t, g, how.script, &out))
		if got := fmt.Sprint(err); err == nil && how.want != "" || err != nil && got != how.want {
			t.Errorf("%s: it ended with %v, want %q", how.script, err, how.want)
		}
		if out.String() != "started\n" {
			t.Errorf("%s: it wrote %q", how.script, &out)
		}
		if left := process.Below(g.command.Process.Pid); len(left) > 0 {
			t.Errorf("%s: processes %v are left", how.script, left)
		}
	}
}

func TestSignalsReachTheCommand(t *testing.T) {
	g := newGuard(t)
	output, input := io.Pipe()
	p, err := g.Start(exec.Command("sh", "-c", "trap 'exit 7' TERM; kill -TERM $PPID; echo trapped; sleep 1000 & wait"), input) // the guard itself ignores signals
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(line, err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := wait(t, p); !errors.Is(err, Exit(7<<8)) {
		t.Errorf("it ended with %v, want exit status 7", err)
	}
	if err := p.Signal(syscall.SIGTERM); err != nil {
		t.Errorf("a signal after the end: %v", err)
	}
}

func TestCommandCannotStart(t *testing.T) {
	g := newGuard(t)
	if _, err := g.Start(exec.Command("/nowhere/controller"), &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), "/nowhere/controller") {
		t.Errorf("error %v, want one that names the binary", err)
	}
	if err := wait(t, begin(t, g, "exit 0", &bytes.Buffer{})); err != nil { // the guard still works
		t.Error(err)
	}
}

func TestCloseKillsAndRemoves(t *testing.T) {
	g := newGuard(t)
	p := begin(t, g, runaway+"wait", &bytes.Buffer{})
	if err := os.MkdirAll(filepath.Join(g.Dir, "a/b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := wait(t, p); err == nil {
		t.Error("a command that was killed with its guard succeeded")
	}
	if g.command.ProcessState.ExitCode() != 0 {
		t.Errorf("the guard ended with %v and said %q", g.command.ProcessState, &g.said)
	}
	gone(t, g.Dir, p.PID())
}

func TestKilledGuardKillsEverything(t *testing.T) {
	g := newGuard(t)
	p := begin(t, g, family+"tail -f "+filepath.Join(g.Dir, sessionFile)+" & wait", &bytes.Buffer{})
	if err := g.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := wait(t, p); err == nil || !strings.Contains(err.Error(), "guard") {
		t.Errorf("error %v, want one that mentions the guard", err)
	}
	if err := g.Close(); err != nil {
		t.Error(err)
	}
	gone(t, g.Dir, p.PID())
}

// harness starts a harness with a family.
func harness(t *testing.T) (command *exec.Cmd, dir string, guard, child int) {
	t.Helper()
	command = exec.Command(os.Args[0])
	command.Env = append(os.Environ(), harnessVariable+"=1")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { command.Process.Kill(); command.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(line, &dir, &guard, &child); err != nil {
		t.Fatalf("%q: %v", line, err)
	}
	return command, dir, guard, child
}

// When a harness is killed, its guard removes everything.
func TestNothingOutlivesTheHarness(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if signal.Ignored(syscall.SIGHUP) { // by nohup; children do not inherit a handler, so they do not ignore the signal
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP)
		defer signal.Stop(hangup)
	}
	for _, sent := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGSEGV} {
		command, dir, guard, child := harness(t)
		all := append(process.Below(guard), guard)
		if err := command.Process.Signal(sent); err != nil {
			t.Fatal(err)
		}
		gone(t, dir, append(all, child)...)
	}
}

// If the guard was killed as well, the next guard removes what is left, but nothing of running
// harnesses.
func TestNextGuardSweeps(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, living, _, livingChild := harness(t)
	command, dir, guard, _ := harness(t)
	others := filepath.Join(os.TempDir(), "windtunnel-results")
	if err := os.Mkdir(others, 0o700); err != nil {
		t.Fatal(err)
	}
	var members []int
	await(t, "the command does not start its children", func() bool {
		members, _ = process.Session(guard)
		return slices.ContainsFunc(members, func(pid int) bool { return pid != guard && process.Uses(pid, dir) })
	})
	if err := syscall.Kill(guard, syscall.SIGSTOP); err != nil { // so that it cannot clean up
		t.Fatal(err)
	}
	for _, pid := range []int{command.Process.Pid, guard} {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	command.Wait()
	// The kernel releases the locks with the last thread of both, shortly after they have ended.
	await(t, dir+" is not swept", func() bool {
		if err := Sweep(); err != nil {
			t.Fatal(err)
		}
		_, err := os.Stat(dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	gone(t, dir, members...)
	if _, err := os.Stat(living); err != nil {
		t.Errorf("the folder of a running harness: %v", err)
	}
	if err := syscall.Kill(livingChild, 0); err != nil {
		t.Errorf("the command of a running harness: %v", err)
	}
	if _, err := os.Stat(others); err != nil {
		t.Errorf("a folder of another program: %v", err)
	}
}

// gone waits until a folder and processes no longer exist.
func gone(t *testing.T, dir string, pids ...int) {
	t.Helper()
	for _, pid := range pids {
		awaitEnd(t, pid)
	}
	await(t, dir+" still exists", func() bool { _, err := os.Stat(dir); return errors.Is(err, fs.ErrNotExist) })
}

func awaitEnd(t *testing.T, pid int) {
	t.Helper()
	await(t, "process "+strconv.Itoa(pid)+" is still running", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || bytes.Contains(stat, []byte(") Z "))
	})
}

func await(t *testing.T, problem string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(killEvery) {
		if time.Now().After(end) {
			t.Fatal(problem)
		}
	}
}
