package sharedlistener

import (
	"fmt"
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

const (
	// maxDatagram is the size of the longest datagram, in bytes.
	maxDatagram = 1 << 16
	// receiveBuffer is the size in bytes of the receive buffer, which all addresses share.
	receiveBuffer = 8 << 20
)

// HandleDatagram handles a datagram. It must return quickly, and must not keep the datagram.
type HandleDatagram func(datagram []byte, from netip.AddrPort)

// UDP is a socket that addresses share. It is safe for use by many goroutines.
type UDP struct {
	conn      *net.UDPConn
	trouble   func(error)
	addresses *group[HandleDatagram]
	done      chan struct{} // closed when receive has returned
}

// ListenUDP is like ListenTCP, for datagrams. Those for own are lost.
func ListenUDP(own netip.AddrPort, trouble func(error)) (*UDP, error) {
	addresses, err := newGroup[HandleDatagram](own.Port(), unix.IPPROTO_UDP)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(own))
	if err != nil {
		addresses.table.release()
		return nil, err
	}
	l := &UDP{conn, trouble, addresses, make(chan struct{})}
	if err := ipv4.NewPacketConn(conn).SetControlMessage(ipv4.FlagDst, true); err != nil {
		conn.Close()
		addresses.table.release()
		return nil, fmt.Errorf("share a socket: ask for the addresses of datagrams: %w", err)
	}
	onSocket(conn, func(fd int) error { // a failure leaves the system's default
		return unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, receiveBuffer)
	})
	if err := addresses.use(conn); err != nil {
		conn.Close()
		return nil, err
	}
	go l.receive()
	return l, nil
}

// Open makes an address receive datagrams, like TCP.Open.
func (l *UDP) Open(address netip.Addr, handle HandleDatagram) error {
	return l.addresses.open(address, handle)
}

// Close makes the kernel refuse further datagrams to an address. Those that are not received yet are
// lost. It does nothing if the address is not open.
func (l *UDP) Close(address netip.Addr) error { return l.addresses.close(address) }

// Send sends a datagram from an address, at the port of the socket, whether it is open or not.
func (l *UDP) Send(from netip.Addr, to netip.AddrPort, datagram []byte) error {
	control := ipv4.ControlMessage{Src: from.AsSlice()}
	_, _, err := l.conn.WriteMsgUDPAddrPort(datagram, control.Marshal(), to)
	return err
}

// Stop closes all addresses and the socket. It may be called twice.
func (l *UDP) Stop() error {
	err := l.addresses.stop()
	l.conn.Close()
	<-l.done
	return err
}

func (l *UDP) receive() {
	defer close(l.done)
	datagram, control := make([]byte, maxDatagram), ipv4.NewControlMessage(ipv4.FlagDst)
	UntilClosed(l.trouble, func() error {
		n, of, _, from, err := l.conn.ReadMsgUDPAddrPort(datagram, control)
		if err != nil {
			return fmt.Errorf("receive datagrams of shared addresses: %w", err)
		}
		var message ipv4.ControlMessage
		if err := message.Parse(control[:of]); err != nil {
			return fmt.Errorf("read the address of a datagram: %w", err)
		}
		to, _ := netip.AddrFromSlice(message.Dst)
		if handle, open := l.addresses.handle(to); open {
			handle(datagram[:n], from)
		}
		return nil
	})
}
