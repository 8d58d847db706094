package backend

import (
	"errors"
	"net/netip"
	"sync"
	"syscall"

	"windtunnel.dev/internal/sharedlistener"
	"windtunnel.dev/sim/event"
)

// sockets opens the ports of pods.
type sockets interface {
	// open opens all ports of a pod, and serves what comes to them. With an error, none is open.
	open(p *pod) (openPorts, error)
	// stop closes what remains when all pods are gone.
	stop()
}

// openPorts are the open ports of one pod.
type openPorts interface {
	// close makes the kernel refuse connections, and closes those over which nothing has come.
	close()
}

// chosenSockets are sharedSockets if the kernel supports them, otherwise ownSockets. The choice is made, and
// logged, when the first pod opens its ports.
type chosenSockets struct {
	own      netip.Addr // for the shared sockets
	separate bool       // always choose ownSockets
	tell     func(event.Event)

	once   sync.Once
	chosen sockets
	err    error
}

func (c *chosenSockets) open(p *pod) (openPorts, error) {
	c.once.Do(c.choose)
	if c.err != nil {
		return nil, c.err
	}
	return c.chosen.open(p)
}

func (c *chosenSockets) choose() {
	if c.separate {
		c.takeOwn("")
		return
	}
	switch err := sharedlistener.Supported(); {
	case err == nil:
		c.chosen = newSharedSockets(c.own, c.tell)
		c.tell(event.Event{PodSockets: &event.PodSockets{Mode: event.SharedSockets}})
	case errors.Is(err, sharedlistener.ErrUnsupported):
		c.takeOwn(err.Error())
	default:
		c.err = err
	}
}

func (c *chosenSockets) takeOwn(why string) {
	c.chosen = ownSockets{}
	c.tell(event.Event{PodSockets: &event.PodSockets{Mode: event.OwnSockets, Why: why}})
}

func (c *chosenSockets) stop() {
	if c.chosen != nil {
		c.chosen.stop()
	}
}

// remedy returns how to solve an error that large fleets run into, or "".
func remedy(err error) string {
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		return "; each connection needs a file descriptor, and each pod one for each of its sockets, unless pods share them: raise the limit (ulimit -n)"
	}
	return ""
}
