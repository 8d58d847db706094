package backend

import (
	"net"
	"net/netip"
)

// PortFleet is a Fleet whose pods may listen on more ports than one.
type PortFleet interface {
	Fleet
	// StartOn starts a pod as Start does; when it is ready, it also listens on the further ports. They
	// are from 1 to 65535.
	StartOn(name, service string, further []int) (Pod, error)
}

var _ PortFleet = (*Loopback)(nil)

// StartOn implements PortFleet.
func (f *Loopback) StartOn(name, service string, further []int) (Pod, error) {
	return f.start(name, service, nil, further)
}

// listenFurther opens the pod's further ports. With an error, none is open.
func (p *pod) listenFurther() error {
	for _, port := range p.further {
		address := netip.AddrPortFrom(p.address.Addr(), uint16(port))
		listener, err := net.Listen(family("tcp", address), address.String())
		if err != nil {
			p.closeFurther()
			return err
		}
		p.listeners = append(p.listeners, newIdleListener(listener))
	}
	return nil
}

// closeFurther closes the further ports and their idle connections.
func (p *pod) closeFurther() {
	for _, listener := range p.listeners {
		listener.stop()
	}
	p.listeners = nil
}
