package backend

import (
	"net"
	"net/netip"
)

// ownSockets opens a socket for each port of a pod.
type ownSockets struct{}

// ownPorts are the sockets of one pod.
type ownPorts struct {
	listeners []*idleListener
	stream    *streamListener // nil: none
}

// open opens all sockets before it serves any.
func (ownSockets) open(p *pod) (openPorts, error) {
	opened := new(ownPorts)
	for _, port := range p.ports() {
		at := netip.AddrPortFrom(p.address.Addr(), port)
		listener, err := net.Listen(family("tcp", at), at.String())
		if err == nil && p.speaks(UDP) {
			listener, err = listenDatagrams(listener, at)
		}
		if err != nil {
			opened.close()
			return nil, err
		}
		opened.listeners = append(opened.listeners, &idleListener{Listener: listener})
	}
	if p.context.streamPort != 0 {
		stream, err := listenStream(p.StreamAddr())
		if err != nil {
			opened.close()
			return nil, err
		}
		opened.stream = stream
		go p.serveStream(stream)
	}
	p.server = p.newServer()
	for _, l := range opened.listeners {
		go p.serve(l)
	}
	return opened, nil
}

func (o *ownPorts) close() {
	for _, l := range o.listeners {
		l.stop()
	}
	o.stream.close()
}

func (ownSockets) stop() {}

// family returns the network to listen on. With "tcp" and the address 0.0.0.0, Go would also listen
// on all IPv6 addresses.
func family(network string, at netip.AddrPort) string {
	if at.Addr().Is4() {
		return network + "4"
	}
	return network
}
