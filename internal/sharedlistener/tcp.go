package sharedlistener

import (
	"context"
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/sys/unix"
)

// TCP is a listening socket that addresses share. It is safe for use by many goroutines.
type TCP struct {
	listener  *net.TCPListener
	trouble   func(error)
	addresses *group[func(net.Conn)]
	done      chan struct{} // closed when accept has returned
}

// ListenTCP opens a socket for the connections to the addresses that Open names. It is bound to own: an
// IPv4 address of this machine that nobody else uses at that port, and at which connections are reset.
// The error wraps ErrUnsupported if this process cannot share sockets. ListenTCP calls trouble with the
// errors of accept(2), such as too many open files, after which it goes on; trouble must return quickly.
func ListenTCP(own netip.AddrPort, trouble func(error)) (*TCP, error) {
	addresses, err := newGroup[func(net.Conn)](own.Port(), unix.IPPROTO_TCP)
	if err != nil {
		return nil, err
	}
	// Connections on one machine need no keep-alive, which would cost four system calls per
	// connection.
	config := net.ListenConfig{KeepAlive: -1}
	config.SetMultipathTCP(false) // Go's default; a BPF map holds no such socket
	listener, err := config.Listen(context.Background(), "tcp4", own.String())
	if err != nil {
		addresses.table.release()
		return nil, err
	}
	l := &TCP{listener.(*net.TCPListener), trouble, addresses, make(chan struct{})}
	if err := addresses.use(l.listener); err != nil {
		listener.Close()
		return nil, err
	}
	go l.accept()
	return l, nil
}

// Open makes an address accept connections, at the port of the socket, and passes each to handle. One
// goroutine calls handle for all addresses, so it must return quickly. It may be called once more after
// Close, for a connection that was accepted before. The error wraps EADDRINUSE if the address is open.
func (l *TCP) Open(address netip.Addr, handle func(net.Conn)) error {
	return l.addresses.open(address, handle)
}

// Close makes the kernel refuse further connections to an address. Those that are not accepted yet are
// reset, as when a socket of its own is closed. It does nothing if the address is not open.
func (l *TCP) Close(address netip.Addr) error { return l.addresses.close(address) }

// Stop closes all addresses and the socket. It may be called twice.
func (l *TCP) Stop() error {
	err := l.addresses.stop()
	l.listener.Close()
	<-l.done
	return err
}

func (l *TCP) accept() {
	defer close(l.done)
	UntilClosed(l.trouble, func() error {
		conn, err := l.listener.AcceptTCP()
		if err != nil {
			return fmt.Errorf("accept connections of shared addresses: %w", err)
		}
		if handle, open := l.addresses.handle(conn.LocalAddr().(*net.TCPAddr).AddrPort().Addr()); open {
			handle(conn)
			return nil
		}
		conn.SetLinger(0) // makes Close send an RST: socket(7)
		conn.Close()
		return nil
	})
}
