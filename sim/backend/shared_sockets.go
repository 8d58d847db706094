package backend

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"windtunnel.dev/internal/sharedlistener"
	"windtunnel.dev/sim/event"
)

// sharedSockets opens a socket for each port, which all pods of a fleet share.
type sharedSockets struct {
	own  netip.Addr // to which the sockets are bound; no pod has it
	tell func(event.Event)

	mu     sync.Mutex
	tcp    map[uint16]*sharedlistener.TCP // by port
	udp    *sharedlistener.UDP            // at the stream port; nil until a pod needs it
	single ownSockets
}

func newSharedSockets(own netip.Addr, tell func(event.Event)) *sharedSockets {
	return &sharedSockets{own: own, tell: tell, tcp: map[uint16]*sharedlistener.TCP{}}
}

// sharedPorts are the open ports of one pod.
type sharedPorts struct {
	pod   *pod
	tcp   []*sharedlistener.TCP // at which the pod's address is open
	udp   *sharedlistener.UDP   // nil: none
	conns idleConns
}

// open leaves a pod that answers HTTP over UDP to single, because its server needs its own socket.
func (s *sharedSockets) open(p *pod) (openPorts, error) {
	if p.speaks(UDP) {
		return s.single.open(p)
	}
	opened := &sharedPorts{pod: p}
	if err := s.openAll(opened); err != nil {
		opened.close()
		return nil, err
	}
	return opened, nil
}

func (s *sharedSockets) openAll(o *sharedPorts) error {
	for _, port := range o.pod.ports() {
		if err := s.openTCP(o, port, o.serveHTTP); err != nil {
			return err
		}
	}
	if port := o.pod.context.streamPort; port != 0 {
		if err := s.openTCP(o, uint16(port), o.serveLines); err != nil {
			return err
		}
		return s.openUDP(o, uint16(port))
	}
	return nil
}

func (s *sharedSockets) openTCP(o *sharedPorts, port uint16, handle func(net.Conn)) error {
	listener, err := s.listener(port)
	if err != nil {
		return err
	}
	if err := listener.Open(o.pod.address.Addr(), handle); err != nil {
		return err
	}
	o.tcp = append(o.tcp, listener)
	return nil
}

func (s *sharedSockets) openUDP(o *sharedPorts, port uint16) error {
	socket, err := s.packets(port)
	if err != nil {
		return err
	}
	if err := socket.Open(o.pod.address.Addr(), o.answerDatagram); err != nil {
		return err
	}
	o.udp = socket
	return nil
}

// listener returns the TCP socket of a port.
func (s *sharedSockets) listener(port uint16) (*sharedlistener.TCP, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l, ok := s.tcp[port]; ok {
		return l, nil
	}
	l, err := sharedlistener.ListenTCP(netip.AddrPortFrom(s.own, port), s.trouble)
	if err == nil {
		s.tcp[port] = l
	}
	return l, err
}

// packets returns the UDP socket.
func (s *sharedSockets) packets(port uint16) (_ *sharedlistener.UDP, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.udp == nil {
		s.udp, err = sharedlistener.ListenUDP(netip.AddrPortFrom(s.own, port), s.trouble)
	}
	return s.udp, err
}

func (s *sharedSockets) trouble(err error) {
	s.tell(event.Event{Trouble: &event.Trouble{What: "the sockets of all pods", Detail: err.Error() + remedy(err)}})
}

func (s *sharedSockets) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.tcp {
		s.report(l.Stop())
	}
	if s.udp != nil {
		s.report(s.udp.Stop())
	}
}

func (s *sharedSockets) report(err error) {
	if err != nil {
		s.trouble(err)
	}
}

func (o *sharedPorts) close() {
	for _, l := range o.tcp {
		o.report(l.Close(o.pod.address.Addr()))
	}
	if o.udp != nil {
		o.report(o.udp.Close(o.pod.address.Addr()))
	}
	o.conns.stop()
}

func (o *sharedPorts) report(err error) {
	if err != nil {
		o.pod.trouble(err)
	}
}

// serveHTTP serves a connection with the pod's server. The first connection creates the server,
// because only a few of a hundred thousand pods get any.
func (o *sharedPorts) serveHTTP(conn net.Conn) {
	o.conns.pass(conn, func(conn net.Conn) {
		if o.pod.server == nil {
			o.pod.server = o.pod.newServer()
		}
		one := &oneConn{Conn: conn}
		err := o.pod.server.Serve(one) // returns when it has the connection
		if !one.accepted {
			breakConnection(conn, Reset)
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, http.ErrServerClosed) {
			o.pod.trouble(err)
		}
	})
}

func (o *sharedPorts) serveLines(conn net.Conn) { go o.pod.answerLines(conn) }

func (o *sharedPorts) answerDatagram(datagram []byte, from netip.AddrPort) {
	p := o.pod
	answer := p.answerTo(datagram)
	send := func() {
		if p.State() == Gone {
			return
		}
		if err := o.udp.Send(p.address.Addr(), from, answer); err != nil && !errors.Is(err, net.ErrClosed) {
			p.trouble(fmt.Errorf("answer a datagram: %w", err))
		}
	}
	if wait := answerAfter(string(datagram)); wait > 0 {
		time.AfterFunc(wait, send)
	} else {
		send()
	}
}
