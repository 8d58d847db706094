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
const interruptPatience = time.Minute

// interrupted starts a command, interrupts it as soon as the log of a run contains a request, and
// checks that it ends with the exit code of an interrupt: interrupted LOG COMMAND…
func interrupted(ts *testscript.TestScript, neg bool, args []string) {
	log, args := ts.MkAbs(args[0]), args[1:]
	path, err := exec.LookPath(filepath.Join(firstOf(ts.Getenv("PATH")), args[0]))
	ts.Check(err)
	var stdout, stderr bytes.Buffer
	command := exec.Command(path, args[1:]...)
	command.Dir, command.Stdout, command.Stderr = ts.Getenv("WORK"), &stdout, &stderr
	command.Env = append(os.Environ(), "TMPDIR="+ts.Getenv("TMPDIR"))
	ts.Check(command.Start())
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()

	// The log is written in blocks, so every event in it has already happened.
	patience := time.After(interruptPatience)
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for seen := false; !seen; {
		select {
		case <-look.C:
			text, _ := os.ReadFile(log)
			seen = bytes.Contains(text, []byte(`"request":`))
		case err := <-ended:
			ts.Fatalf("ended before it was interrupted: %v; stderr:\n%s", err, stderr.String())
		case <-patience:
			command.Process.Kill()
			ts.Fatalf("no request within %v; stderr:\n%s", interruptPatience, stderr.String())
		}
	}
	ts.Check(command.Process.Signal(syscall.SIGINT))
	err = <-ended
	ts.Check(os.WriteFile(filepath.Join(command.Dir, "stdout.txt"), stdout.Bytes(), 0o644))
	ts.Check(os.WriteFile(filepath.Join(command.Dir, "stderr.txt"), stderr.Bytes(), 0o644))
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		ts.Fatalf("ended with %v, want exit code %d; stderr:\n%s", err, exitInterrupted, stderr.String())
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
