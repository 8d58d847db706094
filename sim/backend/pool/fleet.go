package pool

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// The ports of a pool's processes.
const (
	Port        = 8080
	StreamPort  = 8081
	ControlPort = 8079
)

// Rest is how long an address stays unused between two simulated pods, unless Options say
// otherwise: longer than a controller needs to forget the first pod.
const Rest = 10 * time.Second

// Lease is how long a simulated pod outlives a fleet that has died, unless Options say otherwise. A
// living fleet renews leases four times as often.
const Lease = time.Minute

// Options configure a fleet.
type Options struct {
	Config    *rest.Config // of the pool's cluster
	Namespace string
	Name      string // of the Deployment; the pods have it in the label PoolLabel
	Token     string // that the processes require
	// Direct sends orders to the processes' own addresses, not through the API server.
	Direct bool
	// ControlPort is the port for orders; 0: ControlPort.
	ControlPort int
	// Port and StreamPort are the ports on which pods answer; 0: Port and StreamPort.
	Port, StreamPort int
	// Rest is how long an address is unused between two pods; 0: Rest.
	Rest time.Duration
	// Lease is how long a pod outlives the fleet; 0: Lease.
	Lease time.Duration
	// Patience is how long a start waits for a real pod that is free; 0: it fails at once.
	Patience time.Duration

	Log     *event.Log // gets an event for each state of each pod; nil: no log
	Subject string     // of those events
}

// Fleet runs the simulated pods of one subject in the real pods of a pool, which it may share with
// other fleets. It is safe for use by many goroutines.
type Fleet struct {
	options Options
	client  kubernetes.Interface
	reach   controlClient

	end     context.CancelFunc // ends the renewal of leases
	keeping chan struct{}      // closed when leases are no longer renewed

	starting sync.Mutex // held, before mu, while a pod starts: orders may take long

	mu      sync.Mutex
	members map[string]*member // by the real pods' names
	pods    map[string]*pod    // those that are not gone, by name
	ending  map[*pod]bool      // those that are gone, but whose processes may not know it yet
	stopped bool

	records records
}

var _ backend.ScriptedFleet = (*Fleet)(nil)

// member is a real pod of the pool.
type member struct {
	name    string
	address netip.Addr
	ready   bool
	busy    bool      // it runs a pod of this fleet
	left    time.Time // when it was last busy, or refused because it is another fleet's
}

// reuseMargin is how much longer than its drain and rest a process may be in use. It covers the
// last answers, the time of orders, and changes whose random times in their slots are close
// together.
const reuseMargin = 10 * time.Second

// Size returns how many real pods a pool needs for the given number of simulated pods. Of these,
// rate are replaced each second, and each replaced pod serves for drain afterwards.
func Size(pods int, rate float64, drain, rest time.Duration) int {
	taken := drain + cmp.Or(rest, Rest) + reuseMargin
	return pods + int(math.Ceil(rate*taken.Seconds())) + 2
}

// Open returns a fleet without pods. It fails if no pod of the pool is ready.
func Open(ctx context.Context, o Options) (*Fleet, error) {
	o.ControlPort = cmp.Or(o.ControlPort, ControlPort)
	o.Port = cmp.Or(o.Port, Port)
	o.StreamPort = cmp.Or(o.StreamPort, StreamPort)
	o.Rest = cmp.Or(o.Rest, Rest)
	o.Lease = cmp.Or(o.Lease, Lease)
	client, err := kubernetes.NewForConfig(o.Config)
	if err != nil {
		return nil, err
	}
	reach, err := newControlClient(o, cmp.Or(o.Subject, "fleet")+"-"+rand.Text()[:8])
	if err != nil {
		return nil, err
	}
	f := &Fleet{options: o, client: client, reach: reach, members: map[string]*member{}, pods: map[string]*pod{}, ending: map[*pod]bool{}, keeping: make(chan struct{})}
	if err := f.find(ctx); err != nil {
		return nil, err
	}
	if f.ready() == 0 {
		return nil, fmt.Errorf("the pool %s/%s has no pod that is ready; see kubectl -n %s get pods -l %s=%s",
			o.Namespace, o.Name, o.Namespace, PoolLabel, o.Name)
	}
	living, end := context.WithCancel(context.Background())
	f.end = end
	go f.renewLeases(living)
	return f, nil
}

// renewLeases renews the leases until ctx ends.
func (f *Fleet) renewLeases(ctx context.Context) {
	defer close(f.keeping)
	ticker := time.NewTicker(f.options.Lease / 4)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		f.mu.Lock()
		living := slices.Collect(maps.Values(f.pods))
		f.mu.Unlock()
		var orders errgroup.Group
		orders.SetLimit(parallelRenewals)
		for _, p := range living {
			orders.Go(func() error { p.renewLease(); return nil })
		}
		orders.Wait()
	}
}

// parallelRenewals is how many leases are renewed at once.
const parallelRenewals = 8

// Start runs a pod of that name in the real pod that has been unused for the longest time.
func (f *Fleet) Start(name, service string) (backend.Pod, error) { return f.start(name, service, nil) }

func (f *Fleet) start(name, service string, script *backend.Script) (backend.Pod, error) {
	f.starting.Lock()
	defer f.starting.Unlock()
	if err := f.mayStart(name); err != nil {
		return nil, fmt.Errorf("pod %s: cannot start: %w", name, err)
	}
	part := f.records.part(script)
	m, err := f.claimPatiently(name, service, part)
	if err != nil {
		return nil, fmt.Errorf("pod %s: cannot start: %w", name, err)
	}
	p := &pod{fleet: f, member: m, name: name, service: service, records: part.Record > 0, done: make(chan struct{})}
	p.setState(backend.Starting)
	f.mu.Lock()
	f.pods[name] = p
	stopped := f.stopped
	f.mu.Unlock()
	if stopped {
		p.Gone()
		return nil, fmt.Errorf("pod %s: cannot start: %w", name, errStopped)
	}
	return p, nil
}

var errStopped = errors.New("its fleet has been stopped")

func (f *Fleet) mayStart(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return errStopped
	}
	if _, lives := f.pods[name]; lives {
		return errors.New("a pod with that name exists")
	}
	return nil
}

// busyPoll is the time between two searches for a process that is free.
const busyPoll = 100 * time.Millisecond

// claimPatiently claims a process. If none is free, it tries again until Patience is over or the
// fleet is stopped.
func (f *Fleet) claimPatiently(name, service string, part scripted) (*member, error) {
	for began := time.Now(); ; time.Sleep(busyPoll) {
		m, err := f.claim(name, service, part)
		if !errors.Is(err, errTooSmall) || time.Since(began) >= f.options.Patience {
			return m, err
		}
		if err := f.mayStart(name); err != nil {
			return nil, err
		}
	}
}

// claim finds a process that accepts the pod. If none of the known ones does, it lists the pool's
// pods again.
func (f *Fleet) claim(name, service string, part scripted) (*member, error) {
	var failed error
	for looked := false; ; {
		m := f.takeUnused()
		if m == nil && looked {
			if failed != nil {
				return nil, fmt.Errorf("%w; the last request: %w", f.shortage(), failed)
			}
			return nil, f.shortage()
		}
		if m == nil {
			looked = true
			ctx, cancel := context.WithTimeout(context.Background(), orderTimeout)
			err := f.find(ctx)
			cancel()
			if err != nil {
				return nil, err
			}
			continue
		}
		failed = f.reach.send(m, "claim", order{Name: name, Service: service, Lease: f.options.Lease, Rest: f.options.Rest, scripted: part})
		if failed == nil {
			return m, nil
		}
		f.release(m) // others may be free now, and this one later
	}
}

// takeUnused marks the member that has been unused for the longest time as busy, if that was long
// enough.
func (f *Fleet) takeUnused() *member {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found *member
	for _, m := range f.members {
		if m.ready && !m.busy && (found == nil || m.left.Before(found.left) || m.left.Equal(found.left) && m.name < found.name) {
			found = m
		}
	}
	if found == nil || time.Since(found.left) < f.options.Rest {
		return nil
	}
	found.busy = true
	return found
}

// ready returns the number of members that are ready.
func (f *Fleet) ready() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for _, m := range f.members {
		if m.ready {
			n++
		}
	}
	return n
}

// errTooSmall means that no real pod is free.
var errTooSmall = errors.New("too small")

// shortage returns the error of a pool that is too small, with the size that it needs.
func (f *Fleet) shortage() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	busy, ready := 0, 0
	for _, m := range f.members {
		if m.busy {
			busy++
		}
		if m.ready {
			ready++
		}
	}
	o, enough := f.options, len(f.members)+1
	return fmt.Errorf("the pool %s/%s is %w: of its pods %d %s ready and %d in use; the others are unused for %v after each pod, do not answer, or are another fleet's; scale it to %d or more: kubectl -n %s scale deployment %s --replicas=%d",
		o.Namespace, o.Name, errTooSmall, ready, plural.Noun(ready, "is", "are"), busy, o.Rest, enough, o.Namespace, o.Name, enough)
}

// Get implements backend.Fleet.
func (f *Fleet) Get(name string) (backend.Pod, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.pods[name]; ok {
		return p, true
	}
	return nil, false
}

// Stop ends every pod and returns when all sockets are closed. Answers that are under way have five
// seconds. The pool stays.
func (f *Fleet) Stop() {
	f.mu.Lock()
	f.stopped = true
	left := slices.AppendSeq(slices.Collect(maps.Values(f.pods)), maps.Keys(f.ending))
	f.mu.Unlock()
	var ends sync.WaitGroup
	for _, p := range left {
		ends.Go(func() { p.Gone(); <-p.done })
	}
	ends.Wait()
	f.end()
	<-f.keeping
}

// forget removes a pod that is gone from the living ones; its member is still busy.
func (f *Fleet) forget(p *pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods[p.name] == p {
		delete(f.pods, p.name)
	}
	f.ending[p] = true
}

// ended releases the member of a pod that has given its last answer.
func (f *Fleet) ended(p *pod) {
	f.release(p.member)
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.ending, p)
}

// release marks a member as unused from now on.
func (f *Fleet) release(m *member) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.busy, m.left = false, time.Now()
}

func (f *Fleet) log(e event.Event) {
	if f.options.Log == nil {
		return
	}
	e.At = f.options.Log.Now()
	e.Subject = f.options.Subject
	f.options.Log.Write(e)
}
