package nginx

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

const (
	// lookEvery is the pause between two reads of /proc while waiting for processes.
	lookEvery = 5 * time.Millisecond
	// terminateTime is the time between SIGTERM and SIGKILL.
	terminateTime = 2 * time.Second
	// orphanDelay delays the notice of a master's end while workers that outlive it hold its
	// standard error open.
	orphanDelay = 100 * time.Millisecond
)

// Process is a running nginx: a master and its workers, in their own process group.
type Process struct {
	nginx *Nginx
	conf  string
	cmd   *exec.Cmd
	done  chan struct{}
	err   error // why the master ended; may be read when done is closed
}

// StartOption changes how nginx is started.
type StartOption func(*exec.Cmd)

// Stderr copies nginx's standard error to w, from one goroutine. By default it is discarded.
func Stderr(w io.Writer) StartOption {
	return func(cmd *exec.Cmd) { cmd.Stderr = w }
}

// Start runs nginx with a configuration file, which must contain `daemon off;`. It returns when the
// forked workers are ready to serve. The context bounds only the start. If the start fails, no
// process is left, and the error contains nginx's message.
func (n *Nginx) Start(ctx context.Context, conf string, options ...StartOption) (*Process, error) {
	conf, err := filepath.Abs(conf) // nginx reads a relative path from its prefix
	if err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	text, err := os.ReadFile(conf)
	if err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	if err := CheckForeground(text); err != nil {
		return nil, fmt.Errorf("starting nginx: %s: %w", conf, err)
	}
	cmd := exec.Command(n.Binary, "-c", conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C in a terminal reaches only the controller
	for _, option := range options {
		option(cmd)
	}
	last := new(tail)
	if cmd.Stderr == nil {
		cmd.Stderr = last
	} else {
		cmd.Stderr = io.MultiWriter(last, cmd.Stderr)
	}
	cmd.WaitDelay = orphanDelay
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	p := &Process{nginx: n, conf: conf, cmd: cmd, done: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := p.awaitWorkers(ctx); err != nil {
		p.kill()
		if message := complaint(last.String()); message != "" {
			err = errors.New(message)
		}
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	return p, nil
}

var daemonOff = regexp.MustCompile(`(?m)^\s*daemon\s+off\s*;`)

// CheckForeground returns an error for a configuration with which nginx would go to the background,
// where its end would go unnoticed. `-g "daemon off;"` is no solution: it stays in force after
// reloads, and conflicts with a file that also contains the directive.
func CheckForeground(conf []byte) error {
	if !daemonOff.Match(conf) {
		return errors.New("the line `daemon off;` is missing: add it at the top")
	}
	return nil
}

// awaitWorkers returns when the master has workers and all of them serve.
func (p *Process) awaitWorkers(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		serving, err := p.serving()
		if err != nil && !gone(err) {
			return err
		}
		if serving {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("it exited at once: %w", p.exit())
		case <-ctx.Done():
			return fmt.Errorf("not all workers started: %w", context.Cause(ctx))
		case <-tick.C:
		}
	}
}

func (p *Process) serving() (bool, error) {
	workers, err := p.Workers()
	if err != nil || len(workers) == 0 {
		return false, err
	}
	starting, err := p.Starting()
	return !starting, err
}

// PID returns the process ID of the master.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the master has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns why the master ended. It is nil before the end, and after an exit with status 0.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// exit is like Err, but also describes an exit with status 0.
func (p *Process) exit() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}

// Workers returns the workers of this nginx; see the function Workers.
func (p *Process) Workers() ([]Worker, error) { return Workers(p.PID()) }

// Starting reports whether the master has forked processes that are still initialising. To see all
// new workers of a reload, call Workers first. If it shows the old workers draining and Starting
// then returns false, the list of workers is complete.
func (p *Process) Starting() (bool, error) { return starting(p.PID()) }

// Reload makes the master reread its configuration. Like ingress-nginx it runs `nginx -s reload`,
// which reads the file before it signals the master. So an invalid file is an error here, not only
// a line in nginx's log. The new workers do not exist yet when Reload returns.
func (p *Process) Reload(ctx context.Context) error {
	select {
	case <-p.done:
		return fmt.Errorf("reloading nginx: it has ended: %w", p.exit())
	default:
		return p.nginx.run(ctx, "reloading nginx", p.conf, "-s", "reload")
	}
}

// Quit ends nginx and returns when none of its processes is left. The workers may finish their
// requests until the context ends. Then Quit terminates nginx, kills it if necessary, and returns
// an error. If the master has already ended, Quit ends the workers that outlived it.
func (p *Process) Quit(ctx context.Context) error {
	p.signal(syscall.SIGQUIT)
	if p.awaitEnd(ctx) == nil {
		return nil
	}
	p.signal(syscall.SIGTERM)
	patience, cancel := context.WithTimeout(context.Background(), terminateTime)
	defer cancel()
	how := "terminated"
	if p.awaitEnd(patience) != nil {
		how = "killed"
		p.kill()
	}
	return fmt.Errorf("nginx did not finish its requests in time and was %s: %w", how, context.Cause(ctx))
}

// awaitEnd returns nil when no process of nginx is left.
func (p *Process) awaitEnd(ctx context.Context) error {
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for !p.ended() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// ended reports whether no process of nginx is left.
func (p *Process) ended() bool {
	select {
	case <-p.done:
		return len(p.group()) == 0
	default:
		return false
	}
}

// signal signals the master, or the workers that outlived it.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		for _, pid := range p.group() {
			_ = syscall.Kill(pid, s) // fails only if it has just ended
		}
	default:
		_ = p.cmd.Process.Signal(s) // likewise
	}
}

// kill kills all processes of nginx and returns when they are gone. It kills the master first, so
// no new processes start.
func (p *Process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.done
	for left := p.group(); len(left) > 0; left = p.group() {
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // likewise
		}
		time.Sleep(lookEvery)
	}
}

// group returns the live processes in nginx's process group, without the master. It also checks the
// session: when the group is empty, the kernel may reuse its number for another group.
func (p *Process) group() []int {
	session, err := unix.Getsid(0)
	if err != nil {
		return nil
	}
	processes, err := procfs.AllProcs()
	if err != nil {
		return nil
	}
	var pids []int
	for _, process := range processes {
		stat, err := process.Stat()
		if err != nil || stat.State == "Z" || process.PID == p.PID() {
			continue
		}
		if stat.PGRP == p.PID() && stat.Session == session {
			pids = append(pids, process.PID)
		}
	}
	return pids
}
