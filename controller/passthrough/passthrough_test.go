package passthrough_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pires/go-proxyproto"

	"windtunnel.dev/controller/passthrough"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/internal/tcptest"
)

// world is a proxy with a pod that speaks TLS and a fake nginx that records what it receives.
type world struct {
	*testing.T
	proxy  *passthrough.Proxy
	config passthrough.Config
	nginx  chan string // the PROXY header and the first bytes of each connection
}

func newWorld(t *testing.T, change ...func(*passthrough.Proxy)) *world {
	t.Helper()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, proxy: &passthrough.Proxy{Log: slog.New(slog.NewTextHandler(t.Output(), nil))}, nginx: make(chan string, 10)}
	w.config = passthrough.Config{
		Addresses: []string{fmt.Sprintf("127.0.0.1:%d", free)},
		Nginx:     w.listen(w.answerAsNginx),
		Hosts:     map[string]string{"raw.example": w.pod("pod")},
	}
	for _, f := range change {
		f(w.proxy)
	}
	w.set()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		w.proxy.Close(ctx)
	})
	return w
}

func (w *world) set() {
	w.Helper()
	if err := w.proxy.Set(w.config); err != nil {
		w.Fatal(err)
	}
}

func (w *world) listen(answer func(net.Conn)) string {
	w.Helper()
	return tcptest.Serve(w, "127.0.0.1:0", answer).String()
}

// pod starts a TLS server and returns its address. It answers with its name and everything that it
// reads until the client closes its write side.
func (w *world) pod(name string) string {
	pair := pki.New("root").Issue(name, []string{"raw.example"})
	certificate, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		w.Fatal(err)
	}
	return w.listen(func(conn net.Conn) {
		secure := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{certificate}})
		heard, err := io.ReadAll(secure)
		if err != nil {
			return
		}
		fmt.Fprintf(secure, "%s heard %s", name, heard)
		secure.CloseWrite()
	})
}

func (w *world) answerAsNginx(conn net.Conn) {
	reader := bufio.NewReader(conn)
	header, err := reader.ReadString('\n')
	if err != nil {
		return
	}
	first := make([]byte, 5)
	io.ReadFull(reader, first)
	w.nginx <- fmt.Sprintf("%s|%x", strings.TrimSpace(header), first)
}

func (w *world) dial() net.Conn {
	w.Helper()
	conn, err := net.Dial("tcp", w.config.Addresses[0])
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

// ask sends "hello" to a host over TLS and returns the answer.
func (w *world) ask(conn net.Conn, host string) (string, error) {
	client := tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: true})
	if _, err := io.WriteString(client, "hello"); err != nil {
		return "", err
	}
	if err := client.CloseWrite(); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(client)
	return string(answer), err
}

func (w *world) wantAnswer(host, want string) {
	w.Helper()
	if got, err := w.ask(w.dial(), host); err != nil || got != want {
		w.Errorf("%s answers %q (%v), want %q", host, got, err, want)
	}
}

func (w *world) wantNginx(client net.Conn) string {
	w.Helper()
	select {
	case received := <-w.nginx:
		header, first, _ := strings.Cut(received, "|")
		local := client.LocalAddr().(*net.TCPAddr)
		if want := fmt.Sprintf("PROXY TCP4 127.0.0.1 127.0.0.1 %d ", local.Port); !strings.HasPrefix(header, want) {
			w.Errorf("nginx received the header %q, want %q…", header, want)
		}
		return first
	case <-time.After(10 * time.Second):
		w.Fatal("no connection reached nginx")
		return ""
	}
}

// The whole name is compared, regardless of case. Each side may close its write side first.
func TestNameSelectsTheDestination(t *testing.T) {
	w := newWorld(t)
	w.wantAnswer("raw.example", "pod heard hello")
	w.wantAnswer("RAW.Example", "pod heard hello")
	for _, other := range []string{"other.example", "sub.raw.example", ""} {
		conn := w.dial()
		w.ask(conn, other)
		if first := w.wantNginx(conn); !strings.HasPrefix(first, "1603") {
			t.Errorf("nginx read %s for %s, want a TLS record", first, other)
		}
	}
}

func TestOtherProtocolsGoToNginx(t *testing.T) {
	w := newWorld(t)
	conn := w.dial()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\n\r\n")
	if first := w.wantNginx(conn); first != fmt.Sprintf("%x", "GET /") {
		t.Errorf("nginx read %s", first)
	}
	conn = w.dial()
	conn.Write([]byte{0x16, 3, 1, 0x40}) // an incomplete hello
	conn.(*net.TCPConn).CloseWrite()
	w.wantNginx(conn)
}

// The proxy does not wait for the rest of a hello that is too long.
func TestLongHelloGoesToNginx(t *testing.T) {
	w := newWorld(t)
	conn := w.dial()
	record := append([]byte{0x16, 3, 1, 0x40, 0}, make([]byte, 1<<14)...)
	copy(record[5:], []byte{1, 0, 0xff, 0xff}) // a message of 64 KiB - 1
	go func() {
		conn.Write(record)
		conn.Write(record)
	}()
	w.wantNginx(conn)
}

func TestHostsChangeWhileConnectionsAreOpen(t *testing.T) {
	w := newWorld(t)
	conn := w.dial()
	open := tls.Client(conn, &tls.Config{ServerName: "raw.example", InsecureSkipVerify: true})
	if err := open.Handshake(); err != nil {
		t.Fatal(err)
	}
	w.config.Hosts = map[string]string{"raw.example": w.pod("other pod"), "new.example": w.config.Hosts["raw.example"]}
	w.set()
	w.wantAnswer("raw.example", "other pod heard hello")
	w.wantAnswer("new.example", "pod heard hello")
	fmt.Fprint(open, "still there")
	open.CloseWrite()
	if answer, err := io.ReadAll(open); string(answer) != "pod heard still there" {
		t.Errorf("the open connection answers %q, %v", answer, err)
	}
}

func TestProxyProtocolOfClients(t *testing.T) {
	w := newWorld(t)
	w.config.ProxyProtocol = true
	w.set()
	from := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 7), Port: 4711}
	to := &net.TCPAddr{IP: net.IPv4(192, 0, 2, 8), Port: 443}
	for _, version := range []byte{1, 2} {
		conn := w.dial()
		if _, err := proxyproto.HeaderProxyFromAddrs(version, from, to).WriteTo(conn); err != nil {
			t.Fatal(err)
		}
		if got, err := w.ask(conn, "raw.example"); err != nil || got != "pod heard hello" {
			t.Errorf("version %d: %q, %v", version, got, err)
		}
		conn = w.dial()
		proxyproto.HeaderProxyFromAddrs(version, from, to).WriteTo(conn)
		w.ask(conn, "other.example")
		if received := <-w.nginx; !strings.HasPrefix(received, "PROXY TCP4 192.0.2.7 192.0.2.8 4711 443|1603") {
			t.Errorf("version %d: nginx received %q", version, received)
		}
	}
	if got, err := w.ask(w.dial(), "raw.example"); err == nil {
		t.Errorf("a client without a PROXY header got the answer %q", got)
	}
}

// Clients that send nothing, or only a PROXY header, are disconnected after a timeout.
func TestSilentClients(t *testing.T) {
	w := newWorld(t, func(p *passthrough.Proxy) { p.HelloTimeout = time.Millisecond })
	closed := func(conn net.Conn) {
		t.Helper()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the connection is still open: %v", err)
		}
	}
	closed(w.dial())
	w.config.ProxyProtocol, w.config.HeaderTimeout = true, time.Millisecond
	w.set()
	closed(w.dial())
	w.config.HeaderTimeout = time.Second
	w.set()
	conn := w.dial()
	to := conn.RemoteAddr()
	if _, err := proxyproto.HeaderProxyFromAddrs(1, to, to).WriteTo(conn); err != nil {
		t.Fatal(err)
	}
	closed(conn)
}

func TestAddressesChange(t *testing.T) {
	w := newWorld(t)
	old := w.config.Addresses
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	w.config.Addresses = []string{fmt.Sprintf("127.0.0.1:%d", free)}
	w.set()
	w.wantAnswer("raw.example", "pod heard hello")
	if conn, err := net.Dial("tcp", old[0]); err == nil {
		conn.Close()
		t.Error("the proxy still listens on the old address")
	}
	taken := w.listen(func(net.Conn) {})
	w.config.Addresses = append(w.config.Addresses, taken)
	if err := w.proxy.Set(w.config); err == nil || !strings.Contains(err.Error(), taken) {
		t.Errorf("an address in use: %v", err)
	}
	w.wantAnswer("raw.example", "pod heard hello")
}

func TestCloseWaitsForConnections(t *testing.T) {
	w := newWorld(t)
	open := tls.Client(w.dial(), &tls.Config{ServerName: "raw.example", InsecureSkipVerify: true})
	if err := open.Handshake(); err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	closed := make(chan struct{})
	go func() {
		w.proxy.Close(ctx)
		close(closed)
	}()
	for { // until the listener is closed
		conn, err := net.Dial("tcp", w.config.Addresses[0])
		if err != nil {
			break
		}
		conn.Close()
	}
	fmt.Fprint(open, "last words")
	open.CloseWrite()
	if answer, err := io.ReadAll(open); string(answer) != "pod heard last words" {
		t.Errorf("got %q, %v", answer, err)
	}
	open.Close()
	<-closed
	cut()
	if err := w.proxy.Set(w.config); err == nil {
		t.Error("a closed proxy listens again")
	}
}

func TestCloseCutsConnections(t *testing.T) {
	w := newWorld(t)
	open := tls.Client(w.dial(), &tls.Config{ServerName: "raw.example", InsecureSkipVerify: true})
	if err := open.Handshake(); err != nil {
		t.Fatal(err)
	}
	ctx, cut := context.WithCancel(t.Context())
	cut()
	w.proxy.Close(ctx)
	if answer, err := io.ReadAll(open); len(answer) > 0 || os.IsTimeout(err) {
		t.Errorf("a closed connection returns %q, %v", answer, err)
	}
}

func TestControlRefusesAddresses(t *testing.T) {
	w := newWorld(t, func(p *passthrough.Proxy) {
		p.Control = func(string, string, syscall.RawConn) error { return errors.New("a port of the controller's own") }
	})
	if conn, err := tls.Dial("tcp", w.config.Addresses[0], &tls.Config{ServerName: "raw.example", InsecureSkipVerify: true}); err == nil {
		conn.Close()
		t.Error("the client reached the service")
	}
	if conn, err := tls.Dial("tcp", w.config.Addresses[0], &tls.Config{ServerName: "other.example", InsecureSkipVerify: true}); err == nil {
		conn.Close()
	}
	if received := <-w.nginx; !strings.HasPrefix(received, "PROXY ") { // Control does not apply to nginx
		t.Errorf("nginx received %q", received)
	}
}
