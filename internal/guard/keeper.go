package guard

import (
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/internal/process"
	"windtunnel.dev/internal/tempdir"
)

// name is the guard's name in /proc and its first argument. It differs from the
// harness's, so `pkill windtunnel` does not kill it.
const name = "subject-guard"

// sessionFile contains the PID of the folder's guard; everything that the guard starts is in its
// session.
const sessionFile = ".guard"

// killEvery is the pause between two searches for processes to kill.
const killEvery = 5 * time.Millisecond

// A guard runs the same binary as the program that starts it, so it works in tests, too. This
// function runs before main.
func init() {
	if len(os.Args) == 2 && os.Args[0] == name {
		if err := keep(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// keep is the main function of a guard. It stays on the main thread, because
// Pdeathsig is tied to the thread that forks.
func keep(what string) error {
	// The signals are caught, not ignored: children would inherit ignored signals.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGTERM, syscall.SIGPIPE)
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("becoming the parent of orphans (PR_SET_CHILD_SUBREAPER): %w", err)
	}
	if err := os.WriteFile("/proc/self/comm", []byte(name), 0); err != nil {
		return err
	}
	harness, err := connection(os.NewFile(3, "harness"))
	if err != nil {
		return err
	}
	dir, err := tempdir.Make(what)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir.Path, sessionFile), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return err
	}
	k := keeper{harness: harness, starts: make(chan start), left: make(chan struct{})}
	_ = send(harness, reply{Dir: dir.Path}, nil) // an error means that the harness has ended: listen notices
	go k.listen()
	for s := range k.starts {
		k.run(s)
	}
	return dir.Remove()
}

// keeper is the state of the guard process.
type keeper struct {
	harness *net.UnixConn
	starts  chan start
	left    chan struct{} // closed when the harness has ended
}

type start struct {
	request
	output *os.File
}

// listen passes on the requests of the harness until the harness ends.
func (k keeper) listen() {
	defer close(k.starts)
	defer close(k.left)
	for {
		var s start
		var err error
		if s.output, err = receive(k.harness, &s.request); err != nil {
			return
		}
		k.starts <- s
	}
}

// run starts a command. When the command or the harness ends, it kills the remaining processes; it
// returns when none is left.
func (k keeper) run(s start) {
	pid, err := s.begin()
	if err != nil {
		_ = send(k.harness, reply{Error: err.Error()}, nil) // an error means that the harness has ended: listen notices
		return
	}
	_ = send(k.harness, reply{PID: pid}, nil) // likewise
	ended, gone := make(chan struct{}), make(chan struct{})
	var status syscall.WaitStatus
	go func() {
		defer close(gone)
		reap(func(one int, how syscall.WaitStatus) {
			if one == pid {
				status = how
				close(ended)
			}
		})
	}()
	select {
	case <-ended:
	case <-k.left:
	}
	kill(gone)
	_ = send(k.harness, reply{Ended: true, Status: status}, nil) // likewise
}

// begin starts the command in its own process group, as a shell does.
func (s start) begin() (pid int, err error) {
	defer s.output.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return 0, err
	}
	defer nothing.Close()
	wanted := isolated.Command{Path: s.Path, Args: s.Args, Env: s.Env, Dir: s.Dir}
	attributes := &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if s.View != nil {
		if wanted, err = s.View.Wrap(wanted); err != nil {
			return 0, err
		}
		s.View.Attributes(attributes)
	}
	command, err := os.StartProcess(wanted.Path, wanted.Args, &os.ProcAttr{
		Env: wanted.Env, Dir: wanted.Dir, Files: []*os.File{nothing, s.output, s.output}, Sys: attributes,
	})
	if err != nil {
		return 0, err
	}
	defer command.Release() // reap waits for it
	return command.Pid, nil
}

// reap waits for all children, including adopted ones, until there are none.
func reap(tell func(pid int, status syscall.WaitStatus)) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.ECHILD:
			return
		case err == nil:
			tell(pid, status)
		}
	}
}

// kill kills all descendants until there are none. A search may miss a process that is forked at
// the same time; the next search finds it.
func kill(gone <-chan struct{}) {
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for {
		for _, pid := range process.Below(os.Getpid()) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // ESRCH: it has ended in the meantime
		}
		select {
		case <-gone:
			return
		case <-tick.C:
		}
	}
}
