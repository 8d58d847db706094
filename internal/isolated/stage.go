package isolated

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// name is the first argument of the first process in the namespaces, and its name in /proc.
const name = "subject-view"

// outputDelay is how long the output of a trial may stay open after the trial has ended.
const outputDelay = time.Second

// failed is the exit code of a wrapper that could not start its command.
const failed = 125

// The wrapper runs the same binary as the program that starts it, so it works in tests, too. This
// function runs before main.
func init() {
	if len(os.Args) != 2 || os.Args[0] != name {
		return
	}
	code, err := run(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = failed
	}
	os.Exit(code)
}

// run sets up the view, runs the command, and returns its exit code.
func run(text string) (int, error) {
	var s stage
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return 0, err
	}
	if err := s.View.setUp(); err != nil {
		return 0, err
	}
	if s.Try {
		return 0, nil
	}
	_ = os.WriteFile("/proc/self/comm", []byte(name), 0) // only a name
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2)
	attributes, err := s.View.User.attributes()
	if err != nil {
		return 0, err
	}
	command, err := os.StartProcess(s.Command.Path, s.Command.Args, &os.ProcAttr{
		Env: s.Command.Env, Dir: s.Command.Dir, Files: []*os.File{os.Stdin, os.Stdout, os.Stderr}, Sys: attributes,
	})
	if err != nil {
		return 0, err
	}
	pid := command.Pid
	_ = command.Release() // the loop below waits for it
	go func() {
		for one := range signals {
			_ = syscall.Kill(pid, one.(syscall.Signal)) // ESRCH: it has ended in the meantime
		}
	}()
	return reap(pid)
}

// attributes makes a process run as the user, and lets the user open the process's output by its path,
// /dev/stdout and /dev/stderr, as container engines do.
func (u *User) attributes() (*syscall.SysProcAttr, error) {
	if u == nil {
		return nil, nil //nolint:nilnil // nothing changes
	}
	for _, output := range []*os.File{os.Stdout, os.Stderr} {
		info, err := output.Stat()
		if err != nil {
			return nil, err
		}
		if info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
			continue // a file or device of others
		}
		if err := output.Chown(int(u.UID), int(u.GID)); err != nil {
			return nil, err
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.UID, Gid: u.GID, Groups: u.Groups}}, nil
}

// reap waits for children, including adopted ones, until the command has ended. It returns the exit
// code of the command, as a shell does.
func reap(pid int) (int, error) {
	for {
		var status syscall.WaitStatus
		one, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			return 0, err
		case one == pid && status.Signaled():
			return 128 + int(status.Signal()), nil
		case one == pid:
			return status.ExitStatus(), nil
		}
	}
}
