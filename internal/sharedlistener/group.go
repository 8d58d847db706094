package sharedlistener

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// group holds the open addresses of one shared socket, and the handle of each.
type group[Handle any] struct {
	table    *table
	slot     uint32
	port     uint16
	protocol uint16

	mu      sync.RWMutex
	stopped bool
	handles map[[4]byte]Handle
}

// newGroup returns a group without addresses. It holds the table until stop.
func newGroup[Handle any](port, protocol uint16) (*group[Handle], error) {
	table, err := acquire()
	if err != nil {
		return nil, err
	}
	return &group[Handle]{table: table, port: port, protocol: protocol, handles: map[[4]byte]Handle{}}, nil
}

// use assigns the shared socket to the group. On an error, it releases the table.
func (g *group[Handle]) use(socket syscall.Conn) (err error) {
	if g.slot, err = g.table.add(socket); err != nil {
		g.table.release()
	}
	return err
}

func (g *group[Handle]) entry(address netip.Addr) entry {
	return entry{address.As4(), g.port, g.protocol}
}

// open opens an address. It holds the lock until the handle is registered, because connections and
// datagrams for the address may arrive earlier.
func (g *group[Handle]) open(address netip.Addr, handle Handle) error {
	if !address.Is4() {
		return fmt.Errorf("%v cannot share a socket: it is not an IPv4 address", address)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return fmt.Errorf("%v cannot share a socket that is closed", address)
	}
	if _, open := g.handles[address.As4()]; open {
		return inUse(g.entry(address))
	}
	if err := g.table.open(g.entry(address), g.slot); err != nil {
		return err
	}
	g.handles[address.As4()] = handle
	return nil
}

func inUse(e entry) error {
	return fmt.Errorf("%v cannot share a socket: %w", netip.AddrPortFrom(netip.AddrFrom4(e.Address), e.Port), unix.EADDRINUSE)
}

// handle returns the handle of an address; false if it is not open.
func (g *group[Handle]) handle(address netip.Addr) (Handle, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	handle, open := g.handles[address.Unmap().As4()]
	return handle, open
}

func (g *group[Handle]) close(address netip.Addr) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, open := g.handles[address.As4()]; !open {
		return nil
	}
	delete(g.handles, address.As4())
	return g.table.shut(g.entry(address))
}

// stop closes all addresses and releases the table, once.
func (g *group[Handle]) stop() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return nil
	}
	g.stopped = true
	var errs []error
	for address := range g.handles {
		errs = append(errs, g.table.shut(entry{address, g.port, g.protocol}))
	}
	clear(g.handles)
	g.table.remove(g.slot)
	g.table.release()
	return errors.Join(errs...)
}
