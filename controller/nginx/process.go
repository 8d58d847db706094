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
	// lookEvery is the pause between two looks at /proc while waiting for processes.
	lookEvery = 5 * time.Millisecond
	// terminateTime is how long nginx may take over SIGTERM before SIGKILL.
	terminateTime = 2 * time.Second
	// orphanDelay is how much later we notice the end of a master when workers
	// that outlive it still hold its standard error.
	orphanDelay = 100 * time.Millisecond
)

// Process is a running nginx: a master and its workers, in a process group of
// their own.
type Process struct {
	nginx *Nginx
	conf  string
	cmd   *exec.Cmd
	done  chan struct{}
	err   error // of the master's end; read after done
}

// StartOption changes how nginx is started.
type StartOption func(*exec.Cmd)

// Stderr copies what nginx writes to its standard error to w, from one
// goroutine. The default is to drop it.
func Stderr(w io.Writer) StartOption {
	return func(cmd *exec.Cmd) { cmd.Stderr = w }
}

// Start runs nginx with a configuration file, which must say `daemon off;`,
// and returns when the workers that it has forked are ready to serve. The context bounds the
// start only. An nginx that does not come up leaves nothing running; the error
// has its own words.
func (n *Nginx) Start(ctx context.Context, conf string, options ...StartOption) (*Process, error) {
	conf, err := filepath.Abs(conf) // nginx reads a relative path from its prefix
	if err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	if err := inForeground(conf); err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	cmd := exec.Command(n.Binary, "-c", conf)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's Ctrl-C is for the controller to pass on
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
		if said := complaint(last.String()); said != "" {
			err = errors.New(said)
		}
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	return p, nil
}

var daemonOff = regexp.MustCompile(`(?m)^\s*daemon\s+off\s*;`)

// inForeground refuses a configuration with which nginx would go to the
// background, where we could not tell its end. `-g "daemon off;"` is no way
// out: it stays in force over reloads and clashes with a file that says so too.
func inForeground(conf string) error {
	text, err := os.ReadFile(conf)
	if err != nil {
		return err
	}
	if !daemonOff.Match(text) {
		return fmt.Errorf("%s: the line `daemon off;` is missing: add it at the top", conf)
	}
	return nil
}

// awaitWorkers returns when the master has workers, and all of them serve.
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
			return fmt.Errorf("it ended at once: %w", p.exit())
		case <-ctx.Done():
			return fmt.Errorf("not all workers came up: %w", context.Cause(ctx))
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

// PID is the master's.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done is closed when the master has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err is why the master ended: nil before its end and after a proper one.
func (p *Process) Err() error {
	select {
	case <-p.done:
		return p.err
	default:
		return nil
	}
}

// exit is Err with a reason for a proper end as well.
func (p *Process) exit() error {
	if p.err != nil {
		return p.err
	}
	return errors.New("exit status 0")
}

// Workers are the workers of this nginx.
func (p *Process) Workers() ([]Worker, error) { return Workers(p.PID()) }

// Starting says whether the master has forked processes that have not finished
// their initialisation. A look at the workers misses none of those that a
// reload started if it comes first and shows the old ones draining.
func (p *Process) Starting() (bool, error) { return starting(p.PID()) }

// Reload tells the master to read its configuration again, by `nginx -s
// reload` as ingress-nginx does: nginx reads the file once more before it
// signals, so an invalid one is an error here, not only a line in its log. The
// new workers are not there yet when Reload returns.
func (p *Process) Reload(ctx context.Context) error {
	select {
	case <-p.done:
		return fmt.Errorf("reloading nginx: it has ended: %w", p.exit())
	default:
		return p.nginx.run(ctx, "reloading nginx", p.conf, "-s", "reload")
	}
}

// Quit ends nginx and returns when none of its processes is left. Until the
// context ends its workers may finish their requests; then it is terminated,
// at last killed, and Quit returns an error that says so. After the end of the
// master it ends what workers it left behind.
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
		return ctx.Err()
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for len(p.group()) > 0 {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// signal signals the master, or the workers that a dead master left behind.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		for _, pid := range p.group() {
			_ = syscall.Kill(pid, s) // that it has ended meanwhile is as good
		}
	default:
		_ = p.cmd.Process.Signal(s) // likewise
	}
}

// kill kills all processes of nginx, the master first so that it starts no
// others, and returns when they are gone.
func (p *Process) kill() {
	_ = p.cmd.Process.Kill() // an error says that it has ended
	<-p.done
	for left := p.group(); len(left) > 0; left = p.group() {
		for _, pid := range left {
			_ = syscall.Kill(pid, syscall.SIGKILL) // likewise
		}
		time.Sleep(lookEvery)
	}
}

// group lists the live processes of nginx's process group other than the
// master. The session is checked too: when the group is empty the kernel may
// give its number to somebody else's.
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
