package kind

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/signal"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/subject"
)

type instance struct {
	fault.Unable // for methods that are not implemented below

	subject subject.Subject
	options driver.Options
	setup   *adapter.Setup
	image   kindcluster.Image
	cluster *kindcluster.Cluster
	api     *rest.Config
	client  kubernetes.Interface
	block   block
	pods    backend.Fleet

	current atomic.Pointer[controllerContainer] // nil before the first
	stop    sync.Once
}

func (i *instance) API() *rest.Config     { return i.api }
func (i *instance) Setup() *adapter.Setup { return i.setup }
func (i *instance) Pods() backend.Fleet   { return i.pods }

// Controller returns the PID of the controller on this machine.
func (i *instance) Controller() int       { return i.current.Load().controller }
func (i *instance) Died() <-chan struct{} { return i.current.Load().died }
func (i *instance) Err() error            { return i.current.Load().err }
func (i *instance) Master() (int, error)  { return i.current.Load().master(i.setup.Processes) }
func (i *instance) StatusPort() int       { return statusPort }

// Signal implements fault.Access. The processes of the node are also processes of this machine.
func (i *instance) Signal(pid int, s syscall.Signal) error { return signal.Send(pid, s) }

func (i *instance) Address() netip.AddrPort { return i.at(httpPort) }
func (i *instance) TLS() netip.AddrPort     { return i.at(httpsPort) }

// Streams returns the addresses with the ports from streamBase.
func (i *instance) Streams() []netip.AddrPort {
	var all []netip.AddrPort
	for n := range i.options.Streams {
		all = append(all, i.at(uint16(incluster.StreamBase+n)))
	}
	return all
}

// at returns an address of the cluster's only node.
func (i *instance) at(port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(i.cluster.Nodes[0].Address), port)
}

// Launch installs the controller, and waits for its health endpoint.
func (i *instance) Launch(ctx context.Context) error {
	if err := i.install(ctx); err != nil {
		return err
	}
	return i.begin(ctx)
}

// Revive waits until the kubelet has restarted the controller. The first restart is immediate;
// later ones have a backoff.
func (i *instance) Revive(ctx context.Context) error { return i.begin(ctx) }

// begin waits until a new container runs and is healthy.
func (i *instance) begin(ctx context.Context) error {
	c, err := i.awaitContainer(ctx)
	if err != nil {
		return fmt.Errorf("start the controller of subject %s: %w", i.subject.Name, err)
	}
	i.current.Store(c)
	died := errors.New("the container has ended")
	err = driver.Poll(ctx, 50*time.Millisecond, func() (bool, error) {
		select {
		case <-c.died:
			return false, died
		default:
			return i.Healthy(ctx) == nil, nil
		}
	})
	if errors.Is(err, died) {
		return fmt.Errorf("start the controller of subject %s: %w", i.subject.Name, i.ending(ctx, c))
	}
	if err != nil {
		return fmt.Errorf("wait for subject %s to become healthy: %w; its last log line: %s", i.subject.Name, err, c.tail.Last())
	}
	return nil
}

// Healthy checks the health endpoint once.
func (i *instance) Healthy(ctx context.Context) error {
	return driver.CheckHealth(ctx, "http://"+i.at(healthPort).String()+incluster.HealthPath(i.subject.Flags), http.StatusOK)
}

// Stop stops the simulated pods and removes the cluster, unless the cluster is to be kept.
func (i *instance) Stop(context.Context) error {
	var err error
	i.stop.Do(func() {
		c := i.current.Load()
		if c != nil {
			err = i.keep(c)
		}
		i.pods.Stop()
		err = errors.Join(err, i.block.release(), i.cluster.Delete())
		if c != nil {
			c.end()
		}
	})
	return err
}

// keep copies nginx.conf from the controller's pod to the run's folder. The log of the controller
// and nginx is in controller.log already.
func (i *instance) keep(c *controllerContainer) error {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/etc/nginx/nginx.conf", c.controller))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the controller has ended, or had not written it yet
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(i.options.Dir, "nginx.conf"), content, 0o644)
}
