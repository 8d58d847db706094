package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/engine"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/agent"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/incluster"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/subject"
)

// instance is one subject in the cluster.
type instance struct {
	fault.Unable

	driver  *Driver
	subject subject.Subject
	options driver.Options
	setup   *adapter.Setup
	home    home
	names   names
	token   string // of all agents and pods of the subject
	pool    int
	pods    backend.Fleet // nil: not yet

	entrypoint []string // of the controller's image, if the launcher starts it; otherwise nil

	current  atomic.Pointer[container] // the controller's; nil before the first
	forwards []*forward
	observer *agent.Observation // nil: it does not observe yet
	traffic  *agent.Traffic     // nil: there are no traffic pods

	alive    context.Context    // until watching is called
	watching context.CancelFunc // of the controller's containers and logs; nil: it was not launched
	watched  sync.WaitGroup

	stop    sync.Once
	stopped error
}

var (
	_ driver.Distant    = (*instance)(nil)
	_ driver.Translator = (*instance)(nil)
)

func (i *instance) API() *rest.Config     { return i.driver.API }
func (i *instance) Setup() *adapter.Setup { return i.setup }
func (i *instance) Pods() backend.Fleet   { return i.pods }
func (i *instance) Died() <-chan struct{} { return i.current.Load().died }
func (i *instance) Err() error            { return i.current.Load().err }

// isBundled reports whether the subject's image is the bundled controller's.
func (i *instance) isBundled() bool {
	return repository(i.driver.ImageOf(i.subject)) == repository(engine.Image)
}

// Controller returns the PID of the controller, in its pod.
func (i *instance) Controller() int {
	controller, _ := i.observer.Processes()
	return controller
}

// Master returns the PID of nginx's master, in the controller's pod.
func (i *instance) Master() (int, error) {
	if _, master := i.observer.Processes(); master > 0 {
		return master, nil
	}
	return 0, errors.New("there is no nginx")
}

// Signal sends a signal to a process of the controller's pod.
func (i *instance) Signal(pid int, s syscall.Signal) error { return i.observer.Signal(pid, s) }

// Address returns an address of this machine, from which connections are forwarded to nginx.
func (i *instance) Address() netip.AddrPort { return i.forwarded(0) }

// TLS returns such an address for HTTPS.
func (i *instance) TLS() netip.AddrPort { return i.forwarded(1) }

// Streams returns such addresses for TCP services. UDP cannot be forwarded: the traffic pods send it.
func (i *instance) Streams() []netip.AddrPort {
	var all []netip.AddrPort
	for n := range i.options.Streams {
		all = append(all, i.forwarded(2+n))
	}
	return all
}

func (i *instance) forwarded(n int) netip.AddrPort {
	if n < len(i.forwards) {
		return i.forwards[n].address
	}
	return netip.AddrPort{}
}

// Inside returns the addresses of nginx in the pod network.
func (i *instance) Inside() (http, tls netip.AddrPort, streams []netip.AddrPort) {
	at := func(port int) netip.AddrPort { return netip.AddrPortFrom(i.current.Load().address, uint16(port)) }
	for n := range i.options.Streams {
		streams = append(streams, at(incluster.StreamBase+n))
	}
	return at(httpPort), at(httpsPort), streams
}

// Generators returns the traffic pods, or nil if there are none.
func (i *instance) Generators() driver.Generators {
	if i.traffic == nil {
		return nil
	}
	return i.traffic
}

// Observe begins to observe the controller's pod from within.
func (i *instance) Observe(context.Context) (driver.Observer, error) {
	return observer{i.observer}, nil
}

// observer gives an observation the types of driver.Observer.
type observer struct{ *agent.Observation }

func (o observer) Converge(ctx context.Context) (driver.Convergence, error) {
	return o.Observation.Converge(ctx)
}

// Translate implements driver.Translator.
func (i *instance) Translate(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	return i.names.translate(object)
}

// Launch installs the controller, waits for its health endpoint, and starts the traffic pods.
func (i *instance) Launch(ctx context.Context) error {
	return i.withNeeds(i.start(ctx, i.install, i.awaitController, i.unhide, i.follow, i.forward, i.observe, i.awaitHealthy, i.startTraffic))
}

// Revive waits until the kubelet has restarted the controller, in the same pod.
func (i *instance) Revive(ctx context.Context) error {
	return i.start(ctx, i.awaitController, i.follow, i.awaitHealthy)
}

// start performs the steps of a start.
func (i *instance) start(ctx context.Context, steps ...func(context.Context) error) error {
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return fmt.Errorf("start the controller of subject %s: %w", i.subject.Name, err)
		}
	}
	return nil
}

// observe begins to observe the processes.
func (i *instance) observe(ctx context.Context) error {
	c := i.current.Load()
	peer := i.peer(c.pod, c.node)
	if err := poll(ctx, func() (bool, error) { return peer.MeasureClock(ctx) == nil, i.ended() }); err != nil {
		return fmt.Errorf("wait for the observer: %w", err)
	}
	local := func(port uint16) netip.AddrPort { return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port) }
	var err error
	i.observer, err = agent.Observe(ctx, peer, i.options.Log, i.subject.Name, agent.Answering{
		HTTP: local(httpPort), TLS: local(httpsPort), Metrics: "http://" + local(healthPort).String() + "/metrics",
	})
	return err
}

func (i *instance) awaitHealthy(ctx context.Context) error {
	return poll(ctx, func() (bool, error) { return i.Healthy(ctx) == nil, i.ended() })
}

// ended returns how the controller has ended, nil if it runs.
func (i *instance) ended() error {
	c := i.current.Load()
	select {
	case <-c.died:
		return notRunning{c.err}
	default:
		return nil
	}
}

// Healthy checks the health endpoint once, through the API server.
func (i *instance) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	client, url, err := i.proxy(i.current.Load().pod, healthPort)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url+incluster.HealthPath(i.subject.Flags), nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the controller's health endpoint: %s", answer.Status)
	}
	return nil
}

// Stop gathers the last events and removes everything from the cluster, even if ctx has ended.
func (i *instance) Stop(ctx context.Context) error {
	i.stop.Do(func() {
		ctx := context.WithoutCancel(ctx)
		var errs []error
		if i.observer != nil {
			errs = append(errs, i.observer.End(ctx))
		}
		if i.traffic != nil {
			i.traffic.Close()
		}
		for _, f := range i.forwards {
			f.close()
		}
		if i.pods != nil {
			i.pods.Stop()
		}
		if i.watching != nil {
			i.watching()
			i.watched.Wait()
		}
		i.stopped = errors.Join(append(errs, i.home.remove(ctx))...)
	})
	return i.stopped
}

// pollEvery is the polling interval.
const pollEvery = 200 * time.Millisecond

// poll is driver.Poll with this interval.
func poll(ctx context.Context, done func() (bool, error)) error {
	return driver.Poll(ctx, pollEvery, done)
}
