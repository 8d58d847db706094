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

// place is a subject's share of this machine.
type place struct {
	cluster *simulated.Instance
	binary  string
	takes   map[string]bool // the controller's flags
}

// Start starts the controller. What an earlier one left behind ended with it.
func (p *place) Start(_ context.Context, out io.Writer) (simulated.Controller, error) {
	started, err := p.cluster.Guard.Start(p.command(), out)
	if err != nil {
		return nil, err
	}
	return process{started}, nil
}

// command is the command line of the controller, with the scenario's flags last
// so that they win. It gets our own flags as far as it has them, and else
// ingress-nginx's only.
func (p *place) command() *exec.Cmd {
	flags := p.cluster.Flags()
	flags["kubeconfig"] = p.cluster.Kubeconfig()
	for name, value := range map[string]string{rootFlag: p.cluster.Root, "log-format": "json"} {
		if p.takes[name] {
			flags[name] = value
		}
	}
	maps.Copy(flags, p.cluster.Subject.Flags)
	command := exec.Command(p.binary, subject.Args(flags)...)
	command.Env = os.Environ()
	for name, value := range simulated.Environment() {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

// root returns where the controller has its files; for one without rootFlag, the machine's root.
func (p *place) root() string {
	if p.takes[rootFlag] {
		return p.cluster.Root
	}
	return "/"
}

func (p *place) Master() (int, error) {
	path := filepath.Join(p.root(), "tmp/nginx/nginx.pid")
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
	return os.ReadFile(filepath.Join(p.root(), name))
}

// Close does nothing: the instance's guard ends the processes and removes the folder.
func (p *place) Close() error { return nil }
