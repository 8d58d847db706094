package attack_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"windtunnel.dev/attack"
	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
)

// killPatience is how long the processes and folders of a killed harness may take to disappear;
// only a failing test waits that long.
const killPatience = 20 * time.Second

// killed is the scenario during which the harness is killed: it runs longer than the latest kill.
const killed = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: killed}
spec:
  population: {services: 2, pods: 2}
  traffic:
  - {lane: http, rate: 20/s}
  - {lane: sse, rate: 2/s, last: 5s}
  timeline:
  - {at: 0s, churn: rolling-update, rate: 2/s, for: 60s}
  - {at: 1s, fault: controller-kill}
  - {at: 2s, fault: workers-stopped, for: 30s}
`

// TestKilledHarness ends windtunnel at many points of a run, by signals that it can handle and by
// SIGKILL. No process and no folder may remain.
func TestKilledHarness(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("this machine cannot run a subject: ", err)
	}
	harness, controller := built.Command(t, "windtunnel"), built.Command(t, "nginx-ingress-controller")
	if signal.Ignored(syscall.SIGHUP) { // by nohup; children do not inherit a handler, so they do not ignore the signal
		hangup := make(chan os.Signal, 1)
		signal.Notify(hangup, syscall.SIGHUP)
		t.Cleanup(func() { signal.Stop(hangup) })
	}
	span := time.Duration(attack.Times(4, 8)) * time.Second
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTERM} {
		t.Run(unix.SignalName(signal), func(t *testing.T) {
			t.Parallel()
			row := attack.Row{Target: "harness", Attack: "ended by " + unix.SignalName(signal) + " at any point of a run", Success: "a process or folder remains"}
			times := attack.Times(1, 15)
			if signal == syscall.SIGKILL {
				times = attack.Times(3, 40)
			}
			for i := range times {
				row.Tried++
				// From the start until a killed controller has been restarted.
				after := time.Duration(2*i+1) * span / time.Duration(2*times)
				if err := killRun(t, harness, controller, signal, after); err != nil {
					row.Landed++
					t.Errorf("after %v: %v", after, err)
				}
			}
			attack.Report(t, row)
		})
	}
}

// killRun starts a run and sends the signal after a while. It returns an error if processes or
// folders remain.
func killRun(t *testing.T, program, controller string, signal syscall.Signal, after time.Duration) error {
	t.Helper()
	work, temporary := t.TempDir(), t.TempDir()
	for _, dir := range []string{filepath.Dir(temporary), temporary} { // for nginx's workers
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(work, "killed.yaml")
	if err := os.WriteFile(file, []byte(killed), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	harness := exec.CommandContext(ctx, program, "run", "--controller", controller, "-o", filepath.Join(work, "run"), file)
	harness.Env = append(os.Environ(), "TMPDIR="+temporary)
	harness.WaitDelay = time.Second
	var said bytes.Buffer
	harness.Stdout, harness.Stderr = &said, &said
	if err := harness.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- harness.Wait() }()
	select {
	case <-time.After(after):
	case err := <-ended:
		return fmt.Errorf("it ended before the signal: %w\n%s", err, &said)
	}
	if err := harness.Process.Signal(signal); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; errors.Is(err, exec.ErrWaitDelay) || ctx.Err() != nil {
		return fmt.Errorf("it did not end, or a process keeps its output open: %w\n%s", err, &said)
	}
	return left(temporary)
}

// left returns an error if a run with this folder for temporary files has left something: processes
// that name the folder or have an open file in it, or folders.
func left(temporary string) error {
	var processes, folders []string
	for end := time.Now().Add(killPatience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		processes, folders = using(temporary), nil
		entries, err := os.ReadDir(temporary)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			// The harness has these folders while it asks nginx for its modules and variables. The next run
			// removes them.
			if !strings.HasPrefix(entry.Name(), "windtunnel-tmp-nginx-") {
				folders = append(folders, entry.Name())
			}
		}
		if len(processes)+len(folders) == 0 {
			return nil
		}
	}
	return fmt.Errorf("processes %q and folders %q remain", processes, folders)
}

func using(folder string) []string {
	all, err := procfs.AllProcs()
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for _, one := range all {
		if one.PID == os.Getpid() {
			continue
		}
		line, _ := one.CmdLine()
		open, _ := one.FileDescriptorTargets()
		environment, _ := one.Environ()
		if strings.Contains(strings.Join(append(append(line, open...), environment...), " "), folder) {
			found = append(found, strconv.Itoa(one.PID)+" "+strings.Join(line, " "))
		}
	}
	return found
}
