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

// place is this machine, as far as a subject has it: nginx's root is the
// instance's.
type place struct {
	cluster *simulated.Instance
	bundled string
}

// Start starts the controller. What an earlier one left behind ended with it.
func (p *place) Start(_ context.Context, out io.Writer) (simulated.Controller, error) {
	command := p.command()
	started, err := p.cluster.Guard.Start(command, out)
	if err != nil {
		return nil, err
	}
	return process{Process: started, command: command.Path}, nil
}

// command is the command line of the controller, with the scenario's flags last
// so that they win.
func (p *place) command() *exec.Cmd {
	flags := p.cluster.Flags()
	flags["kubeconfig"] = p.cluster.Kubeconfig()
	binary := p.cluster.Subject.Controller
	if binary == subject.Bundled {
		binary = p.bundled
		flags["nginx-root"] = p.cluster.Root
		flags["log-format"] = "json"
	}
	maps.Copy(flags, p.cluster.Subject.Flags)
	command := exec.Command(binary, subject.Args(flags)...)
	command.Env = os.Environ()
	for name, value := range simulated.Environment() {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

func (p *place) Master() (int, error) {
	path := filepath.Join(p.cluster.Root, "tmp/nginx/nginx.pid")
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, fmt.Errorf("finding the nginx master: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("finding the nginx master: %s: %w", path, err)
	}
	return pid, nil
}

func (p *place) Read(_ context.Context, name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(p.cluster.Root, name))
}

// Close has nothing to do: the instance's guard ends and removes what is left.
func (p *place) Close() error { return nil }
