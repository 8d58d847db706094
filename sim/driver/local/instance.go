package local

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/subject"
)

type instance struct {
	driver  Driver
	subject subject.Subject
	room    driver.Room
	root    string
	ports   map[string]string
	// streamBase is the first port of the services of TCP and UDP.
	streamBase int
	api        *kubeapi.Server
	block      block
	pods       backend.Fleet

	life    atomic.Pointer[life] // the controller's of the moment; nil before the first
	mounted atomic.Bool          // a small file system, over where the configuration lies
	stop    sync.Once
}

func (i *instance) API() *rest.Config   { return i.api.Config() }
func (i *instance) Pods() backend.Fleet { return i.pods }
func (i *instance) Controller() int     { return i.life.Load().command.Process.Pid }

// Inject spares the harness, which asks the same server, by the name under
// which the controller asks.
func (i *instance) Inject(f fault.Fault, scope fault.Scope) (heal func(), err error) {
	scope.UserAgent = filepath.Base(i.life.Load().command.Path) + "/"
	return i.api.Inject(f, scope)
}

func (i *instance) Died() <-chan struct{} { return i.life.Load().died }
func (i *instance) Err() error            { return i.life.Load().err }

// StatusPort is where the controller posts to nginx.
func (i *instance) StatusPort() int {
	port, _ := strconv.Atoi(i.ports["status-port"]) // it was made of a number
	return port
}

func (i *instance) Address() netip.AddrPort { return i.at("http-port") }
func (i *instance) TLS() netip.AddrPort     { return i.at("https-port") }

// Streams are at the ports from streamBase.
func (i *instance) Streams() []netip.AddrPort {
	var all []netip.AddrPort
	for n := range i.room.Streams {
		all = append(all, netip.MustParseAddrPort("127.0.0.1:"+strconv.Itoa(i.streamBase+n)))
	}
	return all
}

// at is where nginx listens on the port of a flag.
func (i *instance) at(flag string) netip.AddrPort {
	return netip.MustParseAddrPort("127.0.0.1:" + i.ports[flag])
}

func (i *instance) Master() (int, error) {
	path := filepath.Join(i.root, "tmp/nginx/nginx.pid")
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

// Launch prepares what the controller looks for in its cluster, starts it and
// waits for its health endpoint.
func (i *instance) Launch(ctx context.Context) error {
	if err := i.describeController(ctx); err != nil {
		return err
	}
	return i.begin(ctx)
}

// Revive ends what the controller left behind, and starts it again.
func (i *instance) Revive(ctx context.Context) error {
	if master, unborn := i.Master(); unborn == nil {
		if err := killMaster(master); err != nil {
			return err
		}
	}
	return i.begin(ctx)
}

// begin starts a life of the controller and waits until it is healthy.
func (i *instance) begin(ctx context.Context) error {
	l, err := i.newLife()
	if err != nil {
		return fmt.Errorf("starting the controller of subject %s: %w", i.subject.Name, err)
	}
	i.life.Store(l)
	return i.waitHealthy(ctx, l)
}

// Stop ends the controller, which ends nginx, then the pods and the API
// server, and removes the root directory, whose last files it keeps.
func (i *instance) Stop(ctx context.Context) error {
	var err error
	i.stop.Do(func() {
		if l := i.life.Load(); l != nil {
			err = i.endProcesses(ctx, l)
		}
		i.pods.Stop()
		i.block.release()
		err = errors.Join(err, i.api.Close(ctx), i.keep(), i.unmount(), os.RemoveAll(i.root))
	})
	return err
}

// keep copies what a reader of the run wants from the root directory.
func (i *instance) keep() error {
	for _, name := range []string{"etc/nginx/nginx.conf", "var/log/nginx/error.log"} {
		content, err := os.ReadFile(filepath.Join(i.root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // it never came that far
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(i.room.Dir, filepath.Base(name)), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}
