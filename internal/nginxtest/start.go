package nginxtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/controller/nginx"
)

// lookEvery is the interval at which a test checks a condition that it waits for.
const lookEvery = 5 * time.Millisecond

// Nginx is a running nginx.
type Nginx struct {
	Process *nginx.Process
	Program *nginx.Nginx
	Folder  string // of nginx.conf

	t        testing.TB
	errorLog string
}

// Start starts nginx in a new folder. It skips the test if there is none.
func Start(t testing.TB, conf Conf) *Nginx {
	t.Helper()
	program, _ := Find(t)
	folder := Folder(t)
	return StartFile(t, program, conf.Write(t, folder), filepath.Join(folder, "error.log"))
}

// StartFile starts nginx with a configuration file, which must contain `daemon off;`, and returns
// when it serves. It kills nginx at the end of the test. If the test has failed, it then logs the
// end of the file errorLog.
func StartFile(t testing.TB, program *nginx.Nginx, file, errorLog string) *Nginx {
	t.Helper()
	n := &Nginx{Program: program, Folder: filepath.Dir(file), t: t, errorLog: errorLog}
	ctx, cancel := context.WithTimeout(t.Context(), Patience)
	defer cancel()
	var err error
	if n.Process, err = program.Start(ctx, file, nginx.Stderr(t.Output()), endWithTest); err != nil {
		t.Fatalf("%v\n%s\n%s", err, numbered(file), end(n.ErrorLog()))
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = n.Process.Quit(ctx) // by force: the test has ended
		if t.Failed() {
			t.Logf("the end of %s:\n%s", errorLog, end(n.ErrorLog()))
		}
	})
	if want := workerProcesses(t, file); want > 0 {
		n.AwaitWorkers(fmt.Sprintf("%d workers", want), func(now []nginx.Worker) bool { return len(now) == want })
	}
	return n
}

var workerProcessesLine = regexp.MustCompile(`(?m)^\s*worker_processes\s+(\d+);`)

// workerProcesses returns the number of workers that a configuration file asks for, or 0 if the
// file does not say. StartFile needs it because Start does not wait for workers that the master has
// yet to fork.
func workerProcesses(t testing.TB, file string) int {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	match := workerProcessesLine.FindSubmatch(text)
	if match == nil {
		return 0
	}
	n, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// endWithTest makes nginx end even if the test's process ends without its cleanups, as it does on a
// timeout.
func endWithTest(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM }

// Accepts reports an error, with the file, if `nginx -t` refuses a configuration file.
func Accepts(t testing.TB, program *nginx.Nginx, file string) {
	t.Helper()
	if err := program.Test(t.Context(), file); err != nil {
		t.Errorf("%v\n%s", err, numbered(file))
	}
}

// numbered returns the lines of a file with their numbers.
func numbered(file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	var text strings.Builder
	for i, line := range strings.Split(string(content), "\n") {
		fmt.Fprintf(&text, "%4d %s\n", i+1, line)
	}
	return text.String()
}

// end returns the last lines of a text.
func end(text string) string {
	const most = 100
	lines := strings.SplitAfter(text, "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "")
}

// ErrorLog returns what nginx has written to its error log.
func (n *Nginx) ErrorLog() string {
	text, err := os.ReadFile(n.errorLog)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Reload makes nginx read its file again, which must be valid. It returns when the new workers
// serve and no old worker accepts connections.
func (n *Nginx) Reload() {
	n.t.Helper()
	old := n.Workers()
	if err := syscall.Kill(n.Process.PID(), syscall.SIGHUP); err != nil {
		n.t.Fatal(err)
	}
	n.AwaitWorkers("new workers only", func(now []nginx.Worker) bool {
		accepting := 0
		for _, worker := range now {
			isOld := slices.ContainsFunc(old, func(w nginx.Worker) bool { return w.PID == worker.PID })
			if isOld && !worker.Draining {
				return false
			}
			if !worker.Draining {
				accepting++
			}
		}
		starting, err := n.Process.Starting()
		return err == nil && !starting && accepting > 0
	})
}

// Quit ends nginx gracefully. The test fails if nginx does not end.
func (n *Nginx) Quit() {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), Patience) // the test's context ends before its cleanups
	defer cancel()
	if err := n.Process.Quit(ctx); err != nil {
		n.t.Error(err)
	}
}

// Workers returns the workers, as nginx.Workers does.
func (n *Nginx) Workers() []nginx.Worker {
	n.t.Helper()
	workers, err := n.Process.Workers()
	if err != nil {
		n.t.Fatal(err)
	}
	return workers
}

// AwaitWorkers waits until the condition holds for the workers, and returns them.
func (n *Nginx) AwaitWorkers(what string, holds func([]nginx.Worker) bool) []nginx.Worker {
	n.t.Helper()
	var workers []nginx.Worker
	n.Await(what, func() bool {
		workers = n.Workers()
		return holds(workers)
	})
	return workers
}

// Await waits until the condition holds.
func (n *Nginx) Await(what string, holds func() bool) {
	n.t.Helper()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for end := time.Now().Add(Patience); !holds(); <-tick.C {
		if time.Now().After(end) {
			n.t.Fatalf("timeout waiting for %s; workers %+v", what, n.Workers())
		}
	}
}
