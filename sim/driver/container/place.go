package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

// kubeconfig is the path of the kubeconfig in the container.
const kubeconfig = "/kubeconfig"

// removal is the time limit for removing a container.
const removal = 20 * time.Second

// place runs the controller of a subject in a container, a new one for each start.
type place struct {
	cluster  *simulated.Instance
	provider *testcontainers.DockerProvider
	image    client.ImageInspectResult
	name     string // of the image
	run      string

	life   atomic.Pointer[life]
	master atomic.Int64 // PID of the nginx master as last seen
}

// Start creates a container and starts it. Like a kubelet, it first removes the previous container,
// with its files.
func (p *place) Start(ctx context.Context, out io.Writer) (simulated.Controller, error) {
	if err := p.removeLife(ctx); err != nil {
		return nil, err
	}
	request, err := p.request()
	if err != nil {
		return nil, err
	}
	made, err := p.provider.CreateContainer(ctx, request)
	if made != nil {
		p.life.Store(&life{container: made, api: p.provider.Client(), logged: make(chan struct{})})
	}
	if err != nil {
		return nil, fmt.Errorf("create a container of %s: %w", p.name, err)
	}
	l := p.life.Load()
	return l, l.begin(ctx, out)
}

// request returns the specification of the container.
func (p *place) request() (testcontainers.ContainerRequest, error) {
	owner, err := us()
	return testcontainers.ContainerRequest{
		Image:  p.name,
		Cmd:    append(append([]string{}, p.image.Config.Cmd...), subject.Args(p.flags())...),
		Env:    simulated.Environment(),
		Labels: map[string]string{runLabel: p.run, harnessLabel: owner},
		Files:  []testcontainers.ContainerFile{{HostFilePath: p.cluster.Kubeconfig(), ContainerFilePath: kubeconfig, FileMode: 0o444}},
		HostConfigModifier: func(host *container.HostConfig) {
			host.NetworkMode = "host"
			limits := p.cluster.Subject.Resources
			host.NanoCPUs = limits.CPU.ScaledValue(resource.Nano)
			host.Memory = limits.Memory.Value()
			host.MemorySwap = host.Memory // no swap, as on a Kubernetes node
		},
	}, err
}

// flags returns the controller's flags. Those of the scenario take precedence.
func (p *place) flags() map[string]string {
	flags := p.cluster.Flags()
	flags["kubeconfig"] = kubeconfig
	if p.image.Config.Labels[engine.Bundled] != "" {
		flags["log-format"] = "json"
	}
	maps.Copy(flags, p.cluster.Subject.Flags)
	return flags
}

// Master searches for the nginx master only if the last known one has ended, because it is called
// often.
func (p *place) Master() (int, error) {
	if pid := int(p.master.Load()); pid != 0 && probe.IsMaster(pid) {
		return pid, nil
	}
	l := p.life.Load()
	if l == nil || l.init == 0 {
		return 0, probe.ErrNoMaster
	}
	pid, err := probe.MasterBelow(l.init)
	p.master.Store(int64(pid))
	return pid, err
}

// Read also works after the container has ended.
func (p *place) Read(ctx context.Context, name string) ([]byte, error) {
	l := p.life.Load()
	if name == confName && l.conf != nil {
		return l.conf, nil
	}
	file, err := l.container.CopyFileFromContainer(ctx, "/"+name)
	if errdefs.IsNotFound(err) {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, fmt.Errorf("read %s from the container: %w", name, err)
	}
	defer file.Close()
	content, err := io.ReadAll(file)
	if err == nil && len(content) == 0 {
		err = fs.ErrNotExist // a log file that is a link to the container's output
	}
	return content, err
}

// Close removes the container.
func (p *place) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), removal)
	defer cancel()
	return errors.Join(p.removeLife(ctx), p.provider.Close())
}

func (p *place) removeLife(ctx context.Context) error {
	l := p.life.Load()
	if l == nil {
		return nil
	}
	return remove(ctx, p.provider.Client(), l.container.GetContainerID())
}
