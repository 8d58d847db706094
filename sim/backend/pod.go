package backend

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"google.golang.org/grpc"

	"windtunnel.dev/sim/event"
)

// State is a state of a pod's life.
type State string

// The states of a pod, in their order; a pod may skip some.
const (
	Starting    State = "starting"    // refuses connections
	Ready       State = "ready"       // serves
	Terminating State = "terminating" // was asked to end; serves until its drain is over
	Gone        State = "gone"        // refuses connections for ever
)

// lastAnswersTimeout is how long a pod that is gone still works on the answers that it has begun.
const lastAnswersTimeout = 5 * time.Second

// pod is a Pod in this process: open ports with a life cycle.
type pod struct {
	context podContext
	name    string
	service string
	address netip.AddrPort
	server  server // nil until the pod's sockets need it
	done    chan struct{}
	grpc    func() *grpc.Server // made on the first call: few of ten thousand pods get one

	connections *connections
	further     []int // ports on which it listens besides its own
	role        *role // nil, unless the pod follows a script or records

	mu    sync.Mutex
	state State
	open  openPorts   // nil until Ready
	drain *time.Timer // nil until Terminate
}

// podContext has the parts of a fleet that its pods use.
type podContext struct {
	sockets    sockets
	streamPort int               // see Options
	tell       func(event.Event) // without time and subject
	forget     func(*pod)        // called once, when the pod is gone
}

// Single starts a pod without a fleet, on an address of this machine, or on 0.0.0.0 for
// all of its addresses. Single calls tell with each state of the pod, and with what goes
// wrong; tell must return quickly.
func Single(name, service string, address netip.AddrPort, streamPort int, tell func(event.Event)) Pod {
	p := newPod(singleContext(streamPort, tell), name, service, address)
	p.setState(Starting)
	return p
}

// singleContext is that of a pod without a fleet.
func singleContext(streamPort int, tell func(event.Event)) podContext {
	return podContext{ownSockets{}, streamPort, tell, func(*pod) {}}
}

func newPod(h podContext, name, service string, address netip.AddrPort) *pod {
	p := &pod{context: h, name: name, service: service, address: address, done: make(chan struct{}), connections: newConnections()}
	p.grpc = sync.OnceValue(func() *grpc.Server { return newGRPC(p) })
	return p
}

// server has the methods of http.Server that a pod needs. Serve may be called for several listeners.
type server interface {
	Serve(net.Listener) error
	Shutdown(context.Context) error
	Close() error
}

// newServer returns the server of a pod: of its script, if it has one.
func (p *pod) newServer() server {
	if p.role != nil && p.role.script != nil {
		return newScriptedServer(p, p.role.script)
	}
	server := newHTTPServer(p)
	server.Protocols.SetHTTP1(true)
	server.Protocols.SetUnencryptedHTTP2(true) // for gRPC
	return server
}

// newHTTPServer returns an HTTP server that speaks no protocol yet.
func newHTTPServer(p *pod) *http.Server {
	return &http.Server{Handler: p, ErrorLog: log.New(httpLog{p}, "", 0), Protocols: new(http.Protocols)}
}

// ports returns the ports at which the pod's server answers.
func (p *pod) ports() []uint16 {
	ports := []uint16{p.address.Port()}
	for _, port := range p.further {
		ports = append(ports, uint16(port))
	}
	return ports
}

func (p *pod) Addr() netip.AddrPort { return p.address }

func (p *pod) Done() <-chan struct{} { return p.done }

func (p *pod) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *pod) Ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != Starting {
		return fmt.Errorf("pod %s: cannot become ready: it is %s", p.name, p.state)
	}
	open, err := p.context.sockets.open(p)
	if err != nil {
		return fmt.Errorf("pod %s: cannot become ready: %w%s", p.name, err, remedy(err))
	}
	p.open = open
	p.setStateLocked(Ready)
	return nil
}

func (p *pod) Terminate(drain time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == Terminating || p.state == Gone {
		return
	}
	p.setStateLocked(Terminating)
	p.drain = time.AfterFunc(drain, p.Gone)
}

func (p *pod) Gone() {
	if !p.closeListeners() {
		return
	}
	p.finishAnswers()
	p.connections.cut()
	close(p.done)
}

// finishAnswers returns when the pod's server has completed the answers that it has begun.
func (p *pod) finishAnswers() {
	if p.server == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lastAnswersTimeout)
	defer cancel()
	if err := p.server.Shutdown(ctx); err != nil {
		p.trouble(fmt.Errorf("answers were cut: they were not complete %v after the pod was gone: %w", lastAnswersTimeout, err))
		p.server.Close()
	}
}

// cut ends the pod at once. If another goroutine is already ending it, cut waits for that.
func (p *pod) cut() {
	first := p.closeListeners()
	if p.server != nil {
		p.server.Close()
	}
	if first {
		p.connections.cut()
		close(p.done)
	}
	<-p.done
}

// closeListeners closes the ports and the connections over which no request has come, and enters
// Gone. It returns false if the pod was already gone.
func (p *pod) closeListeners() bool {
	p.mu.Lock()
	if p.state == Gone {
		p.mu.Unlock()
		return false
	}
	if p.drain != nil {
		p.drain.Stop()
	}
	if p.open != nil {
		p.open.close()
	}
	p.setStateLocked(Gone)
	p.mu.Unlock()
	p.context.forget(p) // outside the lock: a fleet locks its pods, never the other way round
	return true
}

func (p *pod) serve(l net.Listener) {
	err := p.server.Serve(l)
	if !errors.Is(err, net.ErrClosed) && !errors.Is(err, http.ErrServerClosed) {
		p.trouble(err)
	}
}

func (p *pod) setState(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setStateLocked(s)
}

// setStateLocked writes the event while it holds the lock, so that the log has the states of a
// pod in their order.
func (p *pod) setStateLocked(s State) {
	p.state = s
	p.context.tell(event.Event{Pod: &event.Pod{
		Name: p.name, Service: p.service, Address: p.address.String(), State: string(s),
	}})
}

func (p *pod) trouble(err error) {
	p.context.tell(event.Event{Trouble: &event.Trouble{What: "pod " + p.name, Detail: err.Error()}})
}

// httpLog logs what net/http reports about a pod's connections.
type httpLog struct{ pod *pod }

func (c httpLog) Write(line []byte) (int, error) {
	c.pod.trouble(errors.New(string(line)))
	return len(line), nil
}
