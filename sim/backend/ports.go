package backend

import (
	"net"
	"net/netip"
)

// listen opens the further ports of a pod's script.
func (r *role) listen(at netip.Addr) error {
	if r == nil || r.script == nil {
		return nil
	}
	for _, port := range r.script.Ports {
		address := netip.AddrPortFrom(at, uint16(port))
		listener, err := net.Listen(family("tcp", address), address.String())
		if err != nil {
			r.close()
			return err
		}
		r.ports = append(r.ports, newIdleListener(listener))
	}
	return nil
}

// each calls f for the listener of each further port.
func (r *role) each(f func(*idleListener)) {
	if r == nil {
		return
	}
	for _, l := range r.ports {
		f(l)
	}
}

// close closes the further ports and their idle connections.
func (r *role) close() {
	if r != nil {
		r.each((*idleListener).stop)
		r.ports = nil
	}
}
