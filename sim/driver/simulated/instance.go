package simulated

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/guard"
	"windtunnel.dev/internal/signal"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/webhook"
)

// Instance is a subject with its simulated cluster and its runtime.
type Instance struct {
	Subject subject.Subject
	Options driver.Options
	// Guard owns Root. When this process ends, at the latest, it kills the processes it started.
	Guard *guard.Guard
	// Root is the directory of the subject. Stop removes it. All users may read it, because nginx's
	// workers run as another user if the master is root.
	Root string

	setup *adapter.Setup
	ports adapter.Ports
	// streamBase is the first port of the TCP and UDP services.
	streamBase int
	api        *kubeapi.Server
	block      backend.Block
	pods       backend.Fleet
	webhook    *webhook.Webhook // nil: the subject serves none

	runtime Runtime
	process atomic.Pointer[process] // the current process of the controller; nil before the first
	stop    sync.Once
}

// WithRuntime sets the expanded adapter of the subject and the runtime of the controller, and
// defines the custom kinds of the adapter. It returns the instance. After an error, the cluster is
// gone.
func (i *Instance) WithRuntime(ctx context.Context, setup *adapter.Setup, runtime Runtime) (driver.Instance, error) {
	i.setup, i.runtime = setup, runtime
	if err := i.define(ctx); err != nil {
		return nil, errors.Join(err, i.Discard(context.WithoutCancel(ctx)))
	}
	return i, nil
}

// Setup returns the adapter, expanded for the subject.
func (i *Instance) Setup() *adapter.Setup { return i.setup }

func (i *Instance) Pods() backend.Fleet  { return i.pods }
func (i *Instance) Controller() int      { return i.process.Load().controller.PID() }
func (i *Instance) Master() (int, error) { return i.runtime.Master() }

// harness is the user agent of the harness. No other client uses it.
const harness = "windtunnel-harness/"

// API returns the configuration of the harness's own client.
func (i *Instance) API() *rest.Config {
	config := i.api.Config()
	config.UserAgent = harness + "1"
	return config
}

// Kubeconfig returns the path of the kubeconfig of the API server.
func (i *Instance) Kubeconfig() string { return i.api.Kubeconfig() }

// Inject applies the fault to the subject. The harness uses the same server, so the subject is
// every client except the harness, unless the adapter knows the subject's user agent.
func (i *Instance) Inject(f fault.Fault, scope fault.Scope) (heal func() (struck int), err error) {
	scope.Spare, scope.UserAgent = harness, i.setup.UserAgent
	return i.api.Inject(f, scope)
}

func (i *Instance) Died() <-chan struct{} { return i.process.Load().died }
func (i *Instance) Err() error            { return i.process.Load().err }

// StatusPort returns the port to which the controller sends its POSTs.
func (i *Instance) StatusPort() int { return i.ports.Status }

// Signal sends a signal to a process of the subject. Those of a container are also processes of this
// machine.
func (i *Instance) Signal(pid int, s syscall.Signal) error { return signal.Send(pid, s) }

func (i *Instance) Address() netip.AddrPort { return at(i.ports.HTTP) }
func (i *Instance) TLS() netip.AddrPort     { return at(i.ports.HTTPS) }

// FileRoot implements driver.Files.
func (i *Instance) FileRoot() string {
	if onThisMachine, ok := i.runtime.(interface{ Root() string }); ok {
		return onThisMachine.Root()
	}
	return ""
}

// Streams returns the addresses with the ports from streamBase.
func (i *Instance) Streams() []netip.AddrPort {
	var all []netip.AddrPort
	for n := range i.Options.Streams {
		all = append(all, at(i.streamBase+n))
	}
	return all
}

func at(port int) netip.AddrPort {
	return netip.AddrPortFrom(netip.MustParseAddr(loopback), uint16(port))
}

// Launch creates the objects that the controller needs in its cluster, starts it and waits until it
// is healthy.
func (i *Instance) Launch(ctx context.Context) error {
	if err := i.describeController(ctx); err != nil {
		return err
	}
	if err := i.writeAccount(); err != nil {
		return err
	}
	if unapplied := i.setup.Unapplied; len(unapplied) > 0 {
		i.trouble("the controller has no ConfigMap, so the scenario's keys do not reach it", strings.Join(unapplied, ", "))
	}
	for _, n := range i.setup.Inapplicable() {
		i.Options.Log.Write(event.Event{At: i.Options.Log.Now(), Subject: i.Subject.Name, NotApplicable: &n})
	}
	return i.begin(ctx)
}

func (i *Instance) trouble(what, detail string) {
	i.Options.Log.Trouble(i.Subject.Name, what, detail)
}

// Revive starts the controller again.
func (i *Instance) Revive(ctx context.Context) error { return i.begin(ctx) }

// begin starts the controller and waits until it is healthy.
func (i *Instance) begin(ctx context.Context) error {
	p, err := i.startProcess(ctx)
	if err != nil {
		return fmt.Errorf("start the controller of subject %s: %w", i.Subject.Name, err)
	}
	i.process.Store(p)
	return i.relocate(i.waitHealthy(ctx, p))
}

// Discard ends the cluster of a subject that gets no runtime.
func (i *Instance) Discard(ctx context.Context) error {
	i.pods.Stop()
	i.block.Release()
	return errors.Join(i.api.Close(ctx), i.Guard.Close())
}

// Stop ends the controller, which ends nginx, then the pods and the API server, and removes the
// root directory. Before that it copies the files of interest to the run's folder.
func (i *Instance) Stop(ctx context.Context) error {
	var err error
	i.stop.Do(func() {
		if p := i.process.Load(); p != nil {
			err = errors.Join(i.end(ctx, p), i.keepFiles(ctx))
		}
		i.pods.Stop()
		i.block.Release()
		err = errors.Join(err, i.api.Close(ctx), i.runtime.Close(), i.Guard.Close())
	})
	return err
}

// end asks the controller to end. If it has not ended when ctx ends, end kills it.
func (i *Instance) end(ctx context.Context, p *process) error {
	if err := p.controller.Terminate(); err != nil {
		return err
	}
	select {
	case <-p.died:
		return nil
	case <-ctx.Done():
	}
	i.trouble(driver.KilledAtEnd, "")
	err := p.controller.Kill()
	<-p.died
	return err
}

// keepFiles copies the kept files to the run's folder.
func (i *Instance) keepFiles(ctx context.Context) error {
	for _, name := range i.setup.Keep {
		content, err := i.runtime.Read(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the controller ended before it was written
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(i.copyOf(name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func (i *Instance) copyOf(name string) string {
	return filepath.Join(i.Options.Dir, filepath.Base(name))
}

// relocate replaces the paths of kept files in an error by their paths after the run.
func (i *Instance) relocate(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, name := range i.setup.Keep {
		for _, original := range []string{filepath.Join(i.Root, name), " /" + name} { // the latter in containers
			moved := i.copyOf(name)
			if strings.HasPrefix(original, " ") {
				moved = " " + moved
			}
			text = strings.ReplaceAll(text, original, moved)
		}
	}
	return relocated{err, text}
}

// relocated is an error with a replaced text.
type relocated struct {
	error
	text string
}

func (r relocated) Error() string { return r.text }
func (r relocated) Unwrap() error { return r.error }
