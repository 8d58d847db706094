package local

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/subject"
)

// runtime is a subject's share of this machine.
type runtime struct {
	cluster *simulated.Instance
	binary  string
	flags   map[string]bool // the flags that the controller supports
}

// Start starts the controller. The guard has already ended the processes that an earlier one left
// behind.
func (r *runtime) Start(_ context.Context, out io.Writer) (simulated.Controller, error) {
	started, err := r.cluster.Guard.Start(r.command(), out)
	if err != nil {
		return nil, err
	}
	return process{started}, nil
}

// command returns the command line of the controller. The flags that only our controller has are
// added if the controller supports them. The scenario's flags take precedence.
func (r *runtime) command() *exec.Cmd {
	flags := r.cluster.Flags()
	flags["kubeconfig"] = r.cluster.Kubeconfig()
	for name, value := range map[string]string{rootFlag: r.cluster.Root, "log-format": "json"} {
		if r.flags[name] {
			flags[name] = value
		}
	}
	maps.Copy(flags, r.cluster.Subject.Flags)
	command := exec.Command(r.binary, subject.Args(flags)...)
	command.Env = os.Environ()
	for name, value := range simulated.Environment() {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

// Root returns the root of the controller's files. Without rootFlag, that is the machine's root.
func (r *runtime) Root() string {
	if r.flags[rootFlag] {
		return r.cluster.Root
	}
	return "/"
}

func (r *runtime) Master() (int, error) {
	path := filepath.Join(r.Root(), "tmp/nginx/nginx.pid")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("find the nginx master: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("find the nginx master: %s: %w", path, err)
	}
	return pid, nil
}

func (r *runtime) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.Root(), name))
}

// Close does nothing: the instance's guard ends the processes and removes the folder.
func (r *runtime) Close() error { return nil }
