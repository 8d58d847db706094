package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/process"
	"windtunnel.dev/sim/kubeapi"
)

// begin starts the command as a process and returns when it logs that it is ready.
func begin(t *testing.T, args []string) *exec.Cmd {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // only a failing test waits that long
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, os.Args[0], args...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.Env = append(os.Environ(), beTheCommand+"=1", "POD_NAMESPACE=ingress-nginx", "POD_NAME=controller")
	output, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(output); lines.Scan(); {
		said = append(said, lines.Text())
		var record struct{ Msg string }
		if json.Unmarshal(lines.Bytes(), &record) == nil && record.Msg == "ready" {
			go func() {
				for lines.Scan() { // otherwise the pipe fills up and blocks it
				}
			}()
			return command
		}
	}
	t.Fatalf("it ended before it was ready; its log:\n%s", strings.Join(said, "\n"))
	return nil
}

// The nginx of a killed controller does not prevent the next controller from starting, but a
// running controller does.
func TestKilledControllerDoesNotBlockTheNext(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if _, err := findNginx(""); err != nil {
		t.Skip(err)
	}
	root := openDir(t)
	api, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: filepath.Join(root, "kubeapi"), AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	defer api.Close(context.Background())
	describeCluster(t, api)
	args := append(ports(t), "--kubeconfig="+api.Kubeconfig(), "--configmap=ingress-nginx/controller", "--enable-metrics=true",
		"--nginx-root="+root, "--log-format=json", "--post-shutdown-grace-period=0", "--publish-status-address=127.0.0.1")

	first := begin(t, args)
	var stderr bytes.Buffer
	if code := run(args, environment(), &stderr, &stderr); code != exitMisuse || !strings.Contains(stderr.String(), "another controller runs there") {
		t.Errorf("a second controller: exit code %d, output %q", code, &stderr)
	}
	left := masterPID(t, root)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // killed
	if err := syscall.Kill(left, 0); err != nil {
		t.Fatalf("nginx ended with its controller: %v", err)
	}

	second := begin(t, args)
	if processes, err := process.Group(left); err != nil || len(processes) > 0 { // Group ignores zombies, which may remain until their new parent reaps them
		t.Errorf("processes %v of the killed controller's nginx remain, %v", processes, err)
	}
	if now := masterPID(t, root); now == left || syscall.Kill(now, 0) != nil {
		t.Errorf("nginx is process %d", now)
	}
	if err := second.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := second.Wait(); err != nil {
		t.Errorf("the second controller ended with %v", err)
	}
}
