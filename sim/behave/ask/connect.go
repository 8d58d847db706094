package ask

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"github.com/pires/go-proxyproto"
	"golang.org/x/net/http2"

	"windtunnel.dev/sim/behave"
)

// connection is a connection to the controller. The zero value is not open yet.
type connection struct {
	net.Conn // through TLS, with https
	reader   *bufio.Reader
	http2    *http2Conn      // nil: HTTP/1
	session  *behave.Session // nil without TLS
	ended    string          // why no other request can be sent; empty if one can
}

func (on *connection) close() {
	if on.Conn != nil {
		on.Conn.Close()
	}
}

// open opens a connection, unless it is open.
func (c *call) open(ctx context.Context, on *connection) error {
	switch {
	case on.ended != "":
		return closedError(on.ended)
	case on.Conn != nil:
		return nil
	}
	conn, err := c.dial(ctx)
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET) || isTimeout(err) {
			return err
		}
		return unjudgeable{err}
	}
	on.Conn = conn
	defer whenDone(ctx, conn)()
	wait(c.pause.Connected, ctx.Done())
	if len(c.proxy) > 0 {
		if _, err := conn.Write(c.proxy); err != nil {
			return err
		}
	}
	if c.tls != nil {
		if err := c.secure(ctx, on); err != nil {
			return err
		}
	}
	if c.tls == nil && c.version == "2" || on.session != nil && on.session.Protocol == http2.NextProtoTLS {
		return on.startHTTP2()
	}
	on.reader = bufio.NewReaderSize(on.Conn, maxDatagram)
	return nil
}

// maxDatagram is the size of the largest UDP datagram, in bytes. With a smaller buffer, a read
// would cut datagrams off.
const maxDatagram = 1 << 16

func (c *call) dial(ctx context.Context) (net.Conn, error) {
	local := netip.AddrPortFrom(c.from, 0)
	var dialer net.Dialer
	network := "tcp"
	if c.udp {
		network = "udp"
	}
	switch {
	case !c.from.IsValid():
	case c.udp:
		dialer.LocalAddr = net.UDPAddrFromAddrPort(local)
	default:
		dialer.LocalAddr = net.TCPAddrFromAddrPort(local)
	}
	return dialer.DialContext(ctx, network, c.address.String())
}

func (c *call) secure(ctx context.Context, on *connection) error {
	secured := tls.Client(on.Conn, c.tls)
	if err := secured.HandshakeContext(ctx); err != nil {
		return fmt.Errorf("TLS handshake: %w", err)
	}
	state := secured.ConnectionState()
	on.Conn, on.session = secured, c.sessionOf(&state)
	return nil
}

// setProxy encodes the PROXY header.
func (c *call) setProxy(_ Target, r behave.Request) error {
	if r.Proxy == nil {
		return nil
	}
	source, err := netip.ParseAddrPort(r.Proxy.Source)
	if err != nil {
		return fmt.Errorf("proxy: source: %w", err)
	}
	destination, err := netip.ParseAddrPort(r.Proxy.Destination)
	if err != nil {
		return fmt.Errorf("proxy: destination: %w", err)
	}
	version := max(r.Proxy.Version, 1)
	if version > 2 {
		return fmt.Errorf("proxy: version %d: want 1 or 2", version)
	}
	if source.Addr().Is4() != destination.Addr().Is4() {
		return errors.New("proxy: source and destination are of different families")
	}
	header := proxyproto.HeaderProxyFromAddrs(byte(version), net.TCPAddrFromAddrPort(source), net.TCPAddrFromAddrPort(destination))
	if c.proxy, err = header.Format(); err != nil {
		return fmt.Errorf("proxy: %w", err)
	}
	return nil
}
