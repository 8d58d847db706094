// Package passthrough listens on the HTTPS port in place of nginx, so TLS connections of some hosts
// reach their pods without decryption. It stands between clients and their destination: a service
// or nginx, depending on the server name in the first TLS message. Its one rule: it only reads that
// name and changes no byte; a connection without a readable name goes to nginx.
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

	"windtunnel.dev/internal/accept"
)

// Config configures where the proxy listens and where connections go.
type Config struct {
	Addresses     []string          // host:port to listen on
	ProxyProtocol bool              // clients must send a PROXY header
	HeaderTimeout time.Duration     // for reading that header; 0 means 5 s, as in ingress-nginx
	Nginx         string            // host:port of nginx, which gets the client's address in a PROXY header
	Hosts         map[string]string // host:port by server name, in lower case; must not change after Set
}

// Proxy is the listener. The zero value listens nowhere until Set is called.
type Proxy struct {
	Log          *slog.Logger
	HelloTimeout time.Duration // how long a client may take to send the server name; 0 means 10 s
	// Control, if not nil, may refuse the address to which a service's name resolves; see
	// net.Dialer.
	Control func(network, address string, conn syscall.RawConn) error

	mu        sync.Mutex
	config    Config
	listeners map[string]net.Listener
	open      map[net.Conn]bool
	serving   sync.WaitGroup
	closed    bool
}

const (
	headerTimeout = 5 * time.Second  // for the client's PROXY header
	helloTimeout  = 10 * time.Second // for the client's first TLS message
	dialTimeout   = 5 * time.Second  // for the connection to a service or nginx
)

// Set applies a configuration. Open connections are not affected. If Set cannot listen on an
// address, it returns an error but applies the rest.
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

// Close stops accepting connections and waits until the open ones have ended. When ctx is done, it
// closes them.
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

// accept serves connections until the listener is closed.
func (p *Proxy) accept(listener net.Listener) {
	accept.Each(listener, p.Log, func(conn net.Conn) {
		p.serving.Go(func() { p.serve(conn.(*net.TCPConn)) })
	})
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
		client.reader = proxyproto.NewConn(conn, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(timeout))
		patience += timeout
	}
	client.reader.SetReadDeadline(time.Now().Add(patience))
	name, hello, err := readHello(client)
	if err != nil {
		p.Log.Debug("a TLS connection ended before the client sent a name", "client", conn.RemoteAddr().String(), "error", err.Error())
		return
	}
	client.reader.SetReadDeadline(time.Time{})
	if err := p.pass(client, config, name, hello); err != nil {
		p.Log.Warn("a TLS connection could not be forwarded", "host", name, "client", conn.RemoteAddr().String(), "error", err.Error())
	}
}

// pass connects to the destination, sends the hello that was read already, and relays bytes until
// both sides have ended.
func (p *Proxy) pass(client client, config Config, name string, hello []byte) error {
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
	if _, err := conn.Write(hello); err != nil {
		return err
	}
	relay(client, conn.(*net.TCPConn))
	return nil
}

// enter registers a connection. It returns the configuration, and false if the proxy is closed.
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
