package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/rundir"
)

// interruptPatience limits the wait for a run's first request.
const interruptPatience = 5 * time.Minute

// interrupted starts a command, interrupts it as soon as the log of a run contains a request, and
// checks that it ends with the exit code of an interrupt: interrupted LOG COMMAND…
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	log := ts.MkAbs(args[0])
	c := start(ts, args[1:])
	// The log is written in blocks, so every event in it has already happened.
	c.await("no request", func() bool {
		text, _ := os.ReadFile(log)
		return bytes.Contains(text, []byte(`"request":`))
	})
	ts.Check(c.Process.Signal(syscall.SIGINT))
	c.endsInterrupted()
}

// background is a command that a script has started.
type background struct {
	*exec.Cmd
	ts             *testscript.TestScript
	stdout, stderr string // paths of files
	ended          chan error
}

// start starts a command whose outputs go to stdout.txt and stderr.txt.
func start(ts *testscript.TestScript, args []string) *background {
	path, err := exec.LookPath(filepath.Join(firstOf(ts.Getenv("PATH")), args[0]))
	ts.Check(err)
	c := &background{
		Cmd: exec.Command(path, args[1:]...), ts: ts, ended: make(chan error, 1),
		stdout: ts.MkAbs("stdout.txt"), stderr: ts.MkAbs("stderr.txt"),
	}
	stdout, err := os.Create(c.stdout)
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(c.stderr)
	ts.Check(err)
	defer stderr.Close()
	c.Dir, c.Stdout, c.Stderr = ts.Getenv("WORK"), stdout, stderr
	c.Env = append(os.Environ(), "TMPDIR="+ts.Getenv("TMPDIR"))
	ts.Check(c.Start())
	go func() { c.ended <- c.Wait() }()
	return c
}

// await waits for a condition while the command runs.
func (c *background) await(otherwise string, done func() bool) {
	patience := time.After(interruptPatience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case err := <-c.ended:
			c.ts.Fatalf("ended before it was interrupted: %v; stderr:\n%s", err, c.ts.ReadFile(c.stderr))
		case <-patience:
			c.Process.Kill()
			c.ts.Fatalf("%s within %v; stderr:\n%s", otherwise, interruptPatience, c.ts.ReadFile(c.stderr))
		}
	}
}

// endsInterrupted waits until the command ends, and checks that its exit code is that of an interrupt.
func (c *background) endsInterrupted() {
	err := <-c.ended
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		c.ts.Fatalf("ended with %v, want exit code %d; stderr:\n%s", err, exitInterrupted, c.ts.ReadFile(c.stderr))
	}
}

// sameChanges checks that two runs made the same changes to the same population: all their fields
// except the times are equal.
func sameChanges(ts *testscript.TestScript, neg bool, args []string) {
	if diff := cmp.Diff(changesOf(ts, args[0]), changesOf(ts, args[1])); diff != "" {
		ts.Fatalf("the changes differ (-%s +%s):\n%s", args[0], args[1], diff)
	}
}

func changesOf(ts *testscript.TestScript, dir string) map[string][]event.Change {
	text := ts.ReadFile(filepath.Join(dir, rundir.Events))
	changes := map[string][]event.Change{}
	for e, err := range event.Read(strings.NewReader(text)) {
		ts.Check(err)
		if e.Change != nil {
			changes[e.Subject] = append(changes[e.Subject], *e.Change)
		}
	}
	if len(changes) == 0 {
		ts.Fatalf("%s has no change", dir)
	}
	return changes
}

func firstOf(path string) string { return filepath.SplitList(path)[0] }

// appears waits for a file: appears FILE
func appears(ts *testscript.TestScript, neg bool, args []string) {
	await(ts, "no "+args[0], func() bool {
		_, err := os.Stat(ts.MkAbs(args[0]))
		return err == nil
	})
}

// prints waits until a command prints a text: prints TEXT COMMAND…
func prints(ts *testscript.TestScript, neg bool, args []string) {
	await(ts, fmt.Sprintf("%q does not print %q", args[1:], args[0]), func() bool {
		return ts.Exec(args[1], args[2:]...) == nil && strings.TrimSpace(ts.ReadFile("stdout")) == args[0]
	})
}

func await(ts *testscript.TestScript, otherwise string, done func() bool) {
	patience := time.After(interruptPatience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for !done() {
		select {
		case <-look.C:
		case <-patience:
			ts.Fatalf("%s within %v", otherwise, interruptPatience)
		}
	}
}
