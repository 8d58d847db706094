// Package guard runs a command and kills all of its processes when the harness ends, even by
// SIGKILL. A small process between the harness and the command, the guard, adopts the processes
// that the command leaves behind. Its one rule: when the command ends, everything that it started
// is killed, as when the first process of a container ends; when the harness ends, everything is
// killed.
package guard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/internal/process"
	"windtunnel.dev/internal/tempdir"
)

// outputDelay is how long the output of a command may stay open after the command ends. It stays
// open only if another process has received the descriptor.
const outputDelay = time.Second

// Guard is a guard process and its folder.
type Guard struct {
	// Dir is a temporary folder, removed when the guard ends.
	Dir string

	hold    *tempdir.Dir
	harness *net.UnixConn // our end
	command *exec.Cmd
	said    bytes.Buffer
}

// New starts a guard with a temporary folder; what becomes part of the folder's name.
// It first cleans up after earlier runs whose guards were killed as well.
func New(what string) (*Guard, error) {
	if err := Sweep(); err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("starting a guard: %w", err)
	}
	theirs := os.NewFile(uintptr(pair[1]), "guard")
	ours, err := connection(os.NewFile(uintptr(pair[0]), "harness"))
	if err != nil {
		theirs.Close()
		return nil, fmt.Errorf("starting a guard: %w", err)
	}
	g := &Guard{harness: ours, command: &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{name, what},
		Env:         append(os.Environ(), "GORACE=atexit_sleep_ms=0"), // a race-enabled test binary would take a second to exit
		ExtraFiles:  []*os.File{theirs},
		SysProcAttr: &syscall.SysProcAttr{Setsid: true}, // signals from the terminal reach the harness only
		WaitDelay:   outputDelay,
	}}
	g.command.Stderr = &g.said
	err = g.command.Start()
	theirs.Close() // now only the guard has it, so a guard that ends early is noticed
	if err != nil {
		ours.Close()
		return nil, fmt.Errorf("starting a guard: %w", err)
	}
	var first reply
	if _, err = receive(ours, &first); err == nil {
		g.Dir = first.Dir
		g.hold, err = tempdir.Hold(first.Dir)
	}
	if err != nil {
		return nil, g.failed(err)
	}
	return g, nil
}

// failed ends a guard that did not start, and returns why. What the guard printed says most.
func (g *Guard) failed(err error) error {
	closed := g.Close()
	if said := strings.TrimSpace(g.said.String()); said != "" {
		return fmt.Errorf("starting a guard: %s", said)
	}
	return errors.Join(fmt.Errorf("starting a guard: %w", err), closed)
}

// Start starts a command with its Path, Args, Env and Dir, and with the guard's folder as TMPDIR. Its
// output goes to out. Only one command can run at a time.
func (g *Guard) Start(command *exec.Cmd, out io.Writer) (*Process, error) {
	return g.StartIn(nil, command, out)
}

// StartIn is Start for a command with its own view of the machine. The process that it returns is the
// wrapper around the command (package isolated).
func (g *Guard) StartIn(view *isolated.View, command *exec.Cmd, out io.Writer) (*Process, error) {
	if command.Err != nil {
		return nil, command.Err
	}
	path, err := filepath.Abs(command.Path)
	if err != nil {
		return nil, err
	}
	output, input, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	env := command.Environ()
	if view == nil || view.Root == "" { // otherwise the command does not see the guard's folder
		env = append(env, "TMPDIR="+g.Dir)
	}
	started, err := g.ask(request{Path: path, Args: command.Args, Env: env, Dir: command.Dir, View: view}, input)
	input.Close()
	if err != nil {
		output.Close()
		return nil, err
	}
	p := &Process{guard: g, pid: started.PID, done: make(chan struct{})}
	p.process, err = os.FindProcess(started.PID) // keeps a handle, because PIDs are reused
	if err != nil {
		output.Close()
		return nil, err
	}
	go p.follow(output, out)
	return p, nil
}

// ask asks the guard to start a command.
func (g *Guard) ask(r request, output *os.File) (reply, error) {
	if err := send(g.harness, r, output); err != nil {
		return reply{}, g.lost(err)
	}
	var answer reply
	if _, err := receive(g.harness, &answer); err != nil {
		return reply{}, g.lost(err)
	}
	if answer.Error != "" {
		return reply{}, errors.New(answer.Error)
	}
	return answer, nil
}

func (g *Guard) lost(err error) error {
	return fmt.Errorf("the guard of the command has ended: %w", err)
}

// Close kills all processes that the guard started, removes the folder and ends the guard. It
// returns when nothing is left. A second Close does nothing.
func (g *Guard) Close() error {
	if g.command.ProcessState != nil {
		return nil
	}
	g.harness.Close()
	err := g.command.Wait()
	if g.hold != nil {
		if err != nil { // killed, perhaps
			err = errors.Join(endSession(g.Dir), g.hold.Remove())
		}
		g.hold.Release()
	}
	if err != nil {
		return fmt.Errorf("ending the processes of %s: %w: %s", g.Dir, err, strings.TrimSpace(g.said.String()))
	}
	return nil
}

// Sweep removes the folders of guards that were killed together with their
// harness, and kills the processes that they left.
func Sweep() error { return tempdir.Sweep(endSession) }

// endSession kills the processes in the session of a dead guard, and returns when they are gone.
// The session belongs to the guard if one of its processes uses the guard's folder, or names the
// folder in its environment, as set by Start. The kernel does not reuse the number of a session
// that has processes.
func endSession(dir string) error {
	text, err := os.ReadFile(filepath.Join(dir, sessionFile))
	if err != nil {
		return nil //nolint:nilerr // the guard had not started anything yet
	}
	session, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || session <= 1 {
		return nil //nolint:nilerr // likewise
	}
	left, err := process.Session(session)
	if err != nil || !slices.ContainsFunc(left, func(pid int) bool { return process.Uses(pid, dir) }) {
		return err
	}
	for ; len(left) > 0 && err == nil; left, err = process.Session(session) {
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // ESRCH: it has ended in the meantime
		}
		time.Sleep(killEvery)
	}
	return err
}
