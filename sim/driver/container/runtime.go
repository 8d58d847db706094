package container

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
	"k8s.io/apimachinery/pkg/api/resource"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver/simulated"
	"windtunnel.dev/sim/probe"
)

// removalTimeout is the time limit for removing a container.
const removalTimeout = 20 * time.Second

// runtime runs the controller of a subject in a container, a new one for each start.
type runtime struct {
	cluster  *simulated.Instance
	setup    *adapter.Setup
	provider *testcontainers.DockerProvider
	image    client.ImageInspectResult
	name     string // of the image
	run      string

	current atomic.Pointer[controller]
	finder  probe.Finder
}

// Start creates a container and starts it. Like a kubelet, it first removes the previous container,
// with its files.
func (r *runtime) Start(ctx context.Context, out io.Writer) (simulated.Controller, error) {
	if err := r.removeContainer(ctx); err != nil {
		return nil, err
	}
	request, err := r.request()
	if err != nil {
		return nil, err
	}
	made, err := r.provider.CreateContainer(ctx, request)
	if made != nil {
		r.current.Store(&controller{container: made, api: r.provider.Client(), arguments: simulated.ImageArguments(r.setup), logged: make(chan struct{})})
	}
	if err != nil {
		return nil, fmt.Errorf("create a container of %s: %w", r.name, err)
	}
	c := r.current.Load()
	return c, c.begin(ctx, out)
}

// request returns the specification of the container.
func (r *runtime) request() (testcontainers.ContainerRequest, error) {
	owner, err := harnessIdentity()
	if err != nil {
		return testcontainers.ContainerRequest{}, err
	}
	files, err := r.files()
	return testcontainers.ContainerRequest{
		Image:  r.name,
		Cmd:    slices.Concat(r.image.Config.Cmd, simulated.ImageArguments(r.setup)),
		Env:    r.setup.Env,
		Labels: map[string]string{runLabel: r.run, harnessLabel: owner},
		Files:  files,
		HostConfigModifier: func(host *container.HostConfig) {
			host.NetworkMode = "host"
			limits := r.cluster.Subject.Resources
			host.NanoCPUs = limits.CPU.ScaledValue(resource.Nano)
			host.Memory = limits.Memory.Value()
			host.MemorySwap = host.Memory // no swap, as on a Kubernetes node
		},
	}, err
}

func (r *runtime) Master() (int, error) {
	return r.finder.Master(func() (int, error) {
		if c := r.current.Load(); c != nil {
			if pid := c.PID(); pid != 0 {
				return pid, nil
			}
		}
		return 0, probe.ErrNoMaster
	}, r.setup.Processes)
}

// Read also works after the container has ended.
func (r *runtime) Read(ctx context.Context, name string) ([]byte, error) {
	c := r.current.Load()
	if name == confName && c.conf != nil {
		return c.conf, nil
	}
	file, err := c.container.CopyFileFromContainer(ctx, "/"+name)
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
func (r *runtime) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), removalTimeout)
	defer cancel()
	return errors.Join(r.removeContainer(ctx), r.provider.Close())
}

func (r *runtime) removeContainer(ctx context.Context) error {
	c := r.current.Load()
	if c == nil {
		return nil
	}
	return remove(ctx, r.provider.Client(), c.container.GetContainerID())
}
