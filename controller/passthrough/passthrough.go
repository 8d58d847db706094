// Package passthrough has the port of HTTPS in nginx's place, so that the TLS
// connections of some hosts can go to their pods as they are. It stands between
// clients and, by the name in their first message, a service or nginx. Its one
// rule: it reads that name and changes no byte; what it cannot read is nginx's.
package passthrough

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/pires/go-proxyproto"
)

// Config says where the proxy listens and where connections go.
type Config struct {
	Addresses     []string          // host:port to listen on
	ProxyProtocol bool              // clients speak it, and have to
	HeaderTimeout time.Duration     // how long its header may take; 0 is five seconds, ingress-nginx's
	Nginx         string            // host:port of nginx, which is told of the client by the PROXY protocol
	Hosts         map[string]string // host:port by the whole name, in lower case; not to be changed after Set
}

// Proxy is the listener. The zero one listens nowhere until Set.
type Proxy struct {
	Log          *slog.Logger
	HelloTimeout time.Duration // how long a client may take to say its name; 0 is ten seconds
	// Control, if not nil, may refuse an address that a service turns out to have;
	// see net.Dialer.
	Control func(network, address string, conn syscall.RawConn) error

	mu        sync.Mutex
	config    Config
	listeners map[string]net.Listener
	open      map[net.Conn]bool
	serving   sync.WaitGroup
	closed    bool
}

// The bounds on how long a client may take to say who it is and whom it wants,
// and a service to take a connection.
const (
	headerTimeout = 5 * time.Second
	helloTimeout  = 10 * time.Second
	dialTimeout   = 5 * time.Second
)

// Set makes it listen and pass as the config says. Connections that are open
// stay as they are. An error says which address could not be listened on; the
// rest holds all the same.
func (p *Proxy) Set(config Config) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return errors.New("the TLS listener is closed")
	}
	p.config = config
	for address, listener := range p.listeners {
		if !slices.Contains(config.Addresses, address) {
			listener.Close()
			delete(p.listeners, address)
		}
	}
	var all []error
	for _, address := range config.Addresses {
		if p.listeners[address] != nil {
			continue
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			all = append(all, fmt.Errorf("listening for TLS connections: %w", err))
			continue
		}
		if p.listeners == nil {
			p.listeners = make(map[string]net.Listener)
		}
		p.listeners[address] = listener
		p.serving.Go(func() { p.accept(listener) })
	}
	return errors.Join(all...)
}

// Close takes no more connections, waits until those that are open have ended
// or ctx is done, and then cuts them.
func (p *Proxy) Close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	for _, listener := range p.listeners {
		listener.Close()
	}
	p.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		p.serving.Wait()
		close(ended)
	}()
	select {
	case <-ended:
		return
	case <-ctx.Done():
	}
	p.mu.Lock()
	for conn := range p.open {
		conn.Close()
	}
	p.mu.Unlock()
	<-ended
}

// accept ends when the listener is closed. When the process is out of files it
// waits for some to be closed.
func (p *Proxy) accept(listener net.Listener) {
	for pause := time.Duration(0); ; {
		conn, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil:
			pause = min(max(5*time.Millisecond, 2*pause), time.Second)
			p.Log.Warn("accepting a TLS connection", "error", err.Error(), "pause", pause)
			<-time.After(pause)
		default:
			pause = 0
			p.serving.Go(func() { p.serve(conn.(*net.TCPConn)) })
		}
	}
}

func (p *Proxy) serve(conn *net.TCPConn) {
	config, ok := p.enter(conn)
	defer p.leave(conn)
	if !ok {
		return
	}
	client, patience := client{conn, conn}, cmp.Or(p.HelloTimeout, helloTimeout)
	if config.ProxyProtocol {
		timeout := cmp.Or(config.HeaderTimeout, headerTimeout)
		client.heard = proxyproto.NewConn(conn, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(timeout))
		patience += timeout
	}
	client.heard.SetReadDeadline(time.Now().Add(patience))
	name, said, err := readHello(client)
	if err != nil {
		p.Log.Debug("a TLS connection ended before it had a name", "client", conn.RemoteAddr().String(), "error", err.Error())
		return
	}
	client.heard.SetReadDeadline(time.Time{})
	if err := p.pass(client, config, name, said); err != nil {
		p.Log.Warn("a TLS connection could not be passed on", "host", name, "client", conn.RemoteAddr().String(), "error", err.Error())
	}
}

// pass connects and carries bytes until both sides have ended.
func (p *Proxy) pass(client client, config Config, name string, said []byte) error {
	dialer := net.Dialer{Timeout: dialTimeout, Control: p.Control}
	address, raw := config.Hosts[name]
	if !raw {
		address, dialer.Control = config.Nginx, nil
	}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	if !raw {
		if _, err := proxyproto.HeaderProxyFromAddrs(1, client.RemoteAddr(), client.LocalAddr()).WriteTo(conn); err != nil {
			return err
		}
	}
	if _, err := conn.Write(said); err != nil {
		return err
	}
	relay(client, conn.(*net.TCPConn))
	return nil
}

// enter counts a connection in, unless the proxy is closed.
func (p *Proxy) enter(conn net.Conn) (Config, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = make(map[net.Conn]bool)
	}
	p.open[conn] = true
	return p.config, !p.closed
}

func (p *Proxy) leave(conn net.Conn) {
	conn.Close()
	p.mu.Lock()
	delete(p.open, conn)
	p.mu.Unlock()
}
