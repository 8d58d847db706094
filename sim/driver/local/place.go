package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/subject"
)

// place is this machine, as far as a subject has it: nginx's root is the
// instance's.
type place struct {
	cluster *simulated.Instance
	bundled string
	takes   map[string]bool // flags of ours that the bundled controller has
	master  int             // the nginx master when its controller was asked to end; 0: none
}

// Start kills the nginx that an earlier controller left behind, as the end of
// their container does, and starts the controller.
func (p *place) Start(_ context.Context, out io.Writer) (simulated.Controller, error) {
	if master, unborn := p.Master(); unborn == nil {
		if err := killMaster(master); err != nil {
			return nil, err
		}
	}
	c := &process{place: p, command: p.command()}
	c.command.Stdout, c.command.Stderr = out, out
	return c, start(c.command)
}

// command is the command line of the controller, with the scenario's flags last
// so that they win. What is run in the bundled controller's place gets our own
// flags as far as it has them, and else ingress-nginx's only.
func (p *place) command() *exec.Cmd {
	flags := p.cluster.Flags()
	flags["kubeconfig"] = p.cluster.Kubeconfig()
	binary := p.cluster.Subject.Controller
	if binary == subject.Bundled {
		binary = p.bundled
		for name, value := range map[string]string{"nginx-root": p.cluster.Root, "log-format": "json"} {
			if p.takes[name] {
				flags[name] = value
			}
		}
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

// Close sees to it that nginx has ended with its controller, and takes away the
// small file system of a full disk, if there was one.
func (p *place) Close() error {
	var err error
	if p.master != 0 {
		err = endMaster(p.master)
	}
	return errors.Join(err, fault.UnmountDisk(filepath.Join(p.cluster.Root, "etc/nginx")))
}
