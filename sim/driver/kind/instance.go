package kind

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/kindcluster"
	"windtunnel.dev/sim/subject"
)

type instance struct {
	fault.Unable // of what is not implemented below

	subject subject.Subject
	room    driver.Room
	image   kindcluster.Image
	cluster *kindcluster.Cluster
	api     *rest.Config
	client  kubernetes.Interface
	block   block
	pods    backend.Fleet

	life atomic.Pointer[life] // the controller's current life; nil before the first
	stop sync.Once
}

func (i *instance) API() *rest.Config   { return i.api }
func (i *instance) Pods() backend.Fleet { return i.pods }

// Controller returns the PID of the controller on this machine.
func (i *instance) Controller() int       { return i.life.Load().controller }
func (i *instance) Died() <-chan struct{} { return i.life.Load().died }
func (i *instance) Err() error            { return i.life.Load().err }
func (i *instance) Master() (int, error)  { return i.life.Load().master() }
func (i *instance) StatusPort() int       { return statusPort }

func (i *instance) Address() netip.AddrPort { return i.at(httpPort) }
func (i *instance) TLS() netip.AddrPort     { return i.at(httpsPort) }

// Streams returns the addresses with the ports from streamBase.
func (i *instance) Streams() []netip.AddrPort {
	var all []netip.AddrPort
	for n := range i.room.Streams {
		all = append(all, i.at(uint16(streamBase+n)))
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
	l, err := i.newLife(ctx)
	if err != nil {
		return fmt.Errorf("start the controller of subject %s: %w", i.subject.Name, err)
	}
	i.life.Store(l)
	err = poll(ctx, 50*time.Millisecond, func() (bool, error) {
		select {
		case <-l.died:
			return false, l.err
		default:
			return i.Healthy(ctx) == nil, nil
		}
	})
	if err != nil {
		return fmt.Errorf("wait for subject %s to become healthy: %w; its last log line: %s", i.subject.Name, err, l.tail.Last())
	}
	return nil
}

// Healthy checks the health endpoint once.
func (i *instance) Healthy(ctx context.Context) error {
	return driver.AskHealth(ctx, "http://"+i.at(healthPort).String()+"/healthz")
}

// Stop stops the simulated pods and removes the cluster, unless the cluster is to be kept.
func (i *instance) Stop(context.Context) error {
	var err error
	i.stop.Do(func() {
		l := i.life.Load()
		if l != nil {
			err = i.keep(l)
		}
		i.pods.Stop()
		err = errors.Join(err, i.block.release(), i.cluster.Delete())
		if l != nil {
			l.end()
		}
	})
	return err
}

// keep copies nginx.conf from the controller's pod to the run's folder. The log of the controller
// and nginx is in controller.log already.
func (i *instance) keep(l *life) error {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/root/etc/nginx/nginx.conf", l.controller))
	if errors.Is(err, os.ErrNotExist) {
		return nil // the controller has ended, or had not written it yet
	}
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(i.room.Dir, "nginx.conf"), content, 0o644)
}
