package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/internal/golden"
	"windtunnel.dev/internal/parallel"
)

func TestMain(m *testing.M) {
	testscript.Main(parallel.Tests{M: m, AtOnce: 5}, map[string]func(){
		"windtunnel": func() {
			ctx, stop := untilSignal()
			defer stop()
			logTo(os.Stderr)
			os.Exit(Main(ctx, os.Args[1:], os.Stdout, os.Stderr))
		},
	})
}

// TestScripts runs testdata/*.txtar: user input and the expected output.
func TestScripts(t *testing.T) {
	controller := filepath.Join(t.TempDir(), "nginx-ingress-controller")
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	var plain string
	if !testing.Short() {
		controller = built.Command(t, "nginx-ingress-controller")
		plain = filepath.Dir(built.Command(t, "windtunnel"))
	} else if err := os.WriteFile(controller, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err) // scripts that run it need nginx, and skip; others need only the file
	}
	testscript.Run(t, testscript.Params{
		Dir:           "testdata",
		UpdateScripts: golden.Update(),
		Setup: func(env *testscript.Env) error {
			env.Setenv("CONTROLLER", controller)
			env.Setenv("CASES", filepath.Join(root, "cases"))
			env.Setenv("LUA", filepath.Join(root, "lua"))
			env.Setenv("EXAMPLES", filepath.Join(root, "examples"))
			// With the race detector, each of the hundreds of commands would start ten times as slowly.
			// Scripts set PATH to RACED for commands that do much at once, and to PLAIN for others.
			env.Setenv("RACED", env.Getenv("PATH"))
			if plain != "" {
				env.Setenv("PATH", plain+string(filepath.ListSeparator)+env.Getenv("PATH"))
			}
			env.Setenv("PLAIN", env.Getenv("PATH"))
			// With the race detector, each command would sleep for a second at its end.
			env.Setenv("GORACE", "atexit_sleep_ms=20")
			// If the test runs as root, nginx's workers run as another user, who needs access.
			for _, dir := range []string{filepath.Dir(env.WorkDir), env.WorkDir, env.Getenv("TMPDIR")} {
				if err := os.Chmod(dir, 0o755); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "nginx" {
				return !testing.Short() && doctor.Fit() == nil, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":        exits,
			"measures":     measures,
			"appears":      appears,
			"prints":       prints,
			"oneline":      oneline,
			"answers":      answers,
			"occupied":     occupied,
			"nothing-left": nothingLeft,
			"interrupted":  interrupted,
			"watched":      watched,
			"same-changes": sameChanges,
		},
	})
}

// exits runs a command and checks its exit code: exits CODE COMMAND…
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	if got := exitCode(ts, args[1:]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// measures runs a command that measures, and checks that all expectations are met. The run may be
// void, because a busy machine must not fail a test.
func measures(ts *testscript.TestScript, neg bool, args []string) {
	if got := exitCode(ts, args); got != exitOK && got != exitVoid {
		ts.Fatalf("exit code %d", got)
	}
	if strings.Contains(ts.ReadFile("stdout"), "FAIL") {
		ts.Fatalf("an expectation failed")
	}
}

func exitCode(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		return exit.ExitCode()
	}
	ts.Check(err)
	return exitOK
}

// oneline checks that the last command wrote exactly one line to stderr, not counting the progress
// output of a slow start.
func oneline(ts *testscript.TestScript, neg bool, args []string) {
	text := strings.TrimSpace(ts.ReadFile("stderr"))
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return strings.HasPrefix(line, "starting, ") })
	if len(lines) != 1 || lines[0] == "" {
		ts.Fatalf("want one line on stderr, got:\n%s", text)
	}
}

// occupied listens on a free loopback port until the script ends, and stores the port in a
// variable: occupied NAME
func occupied(ts *testscript.TestScript, neg bool, args []string) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { listener.Close() })
	ts.Setenv(args[0], strconv.Itoa(listener.Addr().(*net.TCPAddr).Port))
}

// answers serves a text over HTTP until the script ends, and stores the URL in a variable: answers NAME TEXT
func answers(ts *testscript.TestScript, neg bool, args []string) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, args[1]) }))
	ts.Defer(server.Close)
	ts.Setenv(args[0], server.URL)
}

// nothingLeft checks that no process is left whose command line contains the script's own folder.
// Every run of the script keeps its temporary files there.
func nothingLeft(ts *testscript.TestScript, neg bool, args []string) {
	work := ts.Getenv("WORK")
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	ts.Check(err)
	for _, path := range lines {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended in the meantime
		}
		if strings.Contains(string(text), work+"/") {
			ts.Fatalf("left running: %s", strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
}
