package local

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/internal/rootfs"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/probe"
)

// runtime is a subject's share of this machine.
type runtime struct {
	cluster *simulated.Instance
	setup   *adapter.Setup
	root    string        // of the controller's files
	image   *rootfs.Image // whose files are at the root; nil if the controller is a binary
	current atomic.Pointer[process]
	finder  probe.Finder
	master  atomic.Int64 // PID of the master as last seen, if the adapter names a file with the PID
	saved   map[string][]byte
}

// Start starts the controller. The guard has already ended the processes that an earlier one left
// behind.
func (r *runtime) Start(_ context.Context, out io.Writer) (simulated.Controller, error) {
	if err := r.layOut(); err != nil {
		return nil, fmt.Errorf("lay out the files of the adapter %s: %w", r.setup.Adapter, err)
	}
	view, err := r.view()
	if err != nil {
		return nil, err
	}
	command, err := r.command()
	if err != nil {
		return nil, err
	}
	started, err := r.cluster.Guard.StartIn(view, command, out)
	if err != nil {
		return nil, err
	}
	p := &process{Process: started, isolated: view != nil, beforeEnd: r.save}
	if r.image != nil {
		p.arguments = simulated.ImageArguments(r.setup)
	}
	r.current.Store(p)
	return p, nil
}

// layOut lays out the files of the adapter.
func (r *runtime) layOut() error {
	if r.image == nil {
		return layOut(r.root, r.setup.Files)
	}
	for _, file := range r.setup.Files {
		if err := r.write(file); err != nil {
			return err
		}
	}
	return r.giveAccount()
}

// command returns the command line of the controller. The subject's flags take precedence.
func (r *runtime) command() (*exec.Cmd, error) {
	if r.image != nil {
		return r.imageCommand(), nil
	}
	command := exec.Command(r.setup.Command[0], slices.Concat(r.setup.Command[1:], r.setup.Arguments)...)
	command.Env = r.environment()
	for name, value := range r.setup.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	if r.setup.Directory == "" {
		return command, nil
	}
	command.Dir = placed(r.root, r.setup.Directory)
	return command, os.MkdirAll(command.Dir, 0o755)
}

// environment returns the variables that a controller shares with this process. A controller with
// in-cluster configuration must not find a cluster of the user instead, which client libraries look
// for through these variables and in the user's home.
func (r *runtime) environment() []string {
	env := os.Environ()
	if !r.setup.InCluster {
		return env
	}
	env = slices.DeleteFunc(env, func(variable string) bool {
		return strings.HasPrefix(variable, "KUBECONFIG=") || strings.HasPrefix(variable, "KUBERNETES_")
	})
	return append(env, "HOME="+r.cluster.Root)
}

// imageCommand returns the command line of a controller from an image, as a container engine would start
// it.
func (r *runtime) imageCommand() *exec.Cmd {
	command := exec.Command(r.image.Command[0], slices.Concat(r.image.Command[1:], simulated.ImageArguments(r.setup))...)
	command.Dir, command.Env = r.image.Dir, slices.Clone(r.image.Env)
	for name, value := range r.setup.Env {
		command.Env = append(command.Env, name+"="+value)
	}
	return command
}

// view returns the view of an isolated controller; nil if the controller is not isolated.
func (r *runtime) view() (*isolated.View, error) {
	if r.image != nil {
		return r.imageView(), nil
	}
	if r.setup.Isolation == nil && !r.setup.InCluster {
		return nil, nil //nolint:nilnil // there is no view
	}
	view := &isolated.View{Folders: map[string]string{}, Scratch: filepath.Join(r.cluster.Root, "view")}
	if err := os.MkdirAll(view.Scratch, 0o755); err != nil {
		return nil, err
	}
	if r.setup.InCluster {
		view.Folders[adapter.AccountFolder] = r.cluster.AccountFolder()
	}
	if r.setup.Isolation == nil {
		return view, nil
	}
	view.Processes = r.setup.Isolation.Processes
	for _, folder := range r.setup.Isolation.Folders {
		own := filepath.Join(r.root, folder)
		if err := os.MkdirAll(own, 0o755); err != nil {
			return nil, err
		}
		view.Folders[folder] = own
	}
	return view, nil
}

// Root returns the root of the controller's files. It is empty for an image, because links in an
// image do not lead to the same files on this machine.
func (r *runtime) Root() string {
	if r.image != nil {
		return ""
	}
	return r.root
}

// Master reads the file with the PID, if the adapter names one. Otherwise it searches for the master.
func (r *runtime) Master() (int, error) {
	p := r.current.Load()
	if p == nil {
		return 0, probe.ErrNoMaster
	}
	if r.setup.Processes.PIDFile != "" {
		return r.fromFile(p)
	}
	return r.finder.Master(func() (int, error) { return p.PID(), nil }, r.setup.Processes)
}

// fromFile reads the master's PID from the adapter's file. An isolated master has another PID there.
func (r *runtime) fromFile(p *process) (int, error) {
	text, err := os.ReadFile(r.setup.Processes.PIDFile)
	if err != nil {
		return 0, fmt.Errorf("find the master: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0, fmt.Errorf("find the master: %s: %w", r.setup.Processes.PIDFile, err)
	}
	if !p.isolated {
		return pid, nil
	}
	return r.outside(p, pid)
}

// outside converts the PID of the master in the controller's view to its PID on this machine.
func (r *runtime) outside(p *process, inner int) (int, error) {
	if known := int(r.master.Load()); known != 0 && isolated.Is(known, inner) && probe.IsMaster(known, r.setup.Processes) {
		return known, nil
	}
	pid := isolated.HostPID(p.Process.PID(), inner)
	r.master.Store(int64(pid))
	if pid == 0 {
		return 0, fmt.Errorf("process %d in the controller's view: %w", inner, probe.ErrNoMaster)
	}
	return pid, nil
}

// save keeps the files that only an isolated controller sees, because something is mounted over their
// folder: the mount disappears with the controller.
func (r *runtime) save(controller int) {
	if r.image != nil {
		return // nothing is mounted there
	}
	r.saved = map[string][]byte{}
	for _, name := range r.setup.Keep {
		inside := filepath.Join(fmt.Sprintf("/proc/%d/root", controller), name)
		theirs, err := os.Stat(inside)
		if err != nil {
			continue
		}
		if ours, err := os.Stat(filepath.Join(r.root, name)); err == nil && os.SameFile(ours, theirs) {
			continue
		}
		if content, err := os.ReadFile(inside); err == nil {
			r.saved[name] = content
		}
	}
}

func (r *runtime) Read(_ context.Context, name string) ([]byte, error) {
	if content, ok := r.saved[name]; ok {
		return content, nil
	}
	if r.image != nil {
		return r.readFromImage(name)
	}
	return os.ReadFile(filepath.Join(r.root, name))
}

// Close does nothing: the instance's guard ends the processes and removes the folder.
func (r *runtime) Close() error { return nil }
