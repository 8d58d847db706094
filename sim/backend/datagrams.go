package backend

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
)

// datagramServer answers each HTTP request that comes in one UDP datagram with one datagram, on the
// port of its TCP listener. It closes TCP connections.
type datagramServer struct {
	handler http.Handler
	living  context.Context // ends with the server
	end     context.CancelFunc
}

func newDatagramServer(handler http.Handler) *datagramServer {
	s := &datagramServer{handler: handler}
	s.living, s.end = context.WithCancel(context.Background())
	return s
}

// datagramListener is a listener with a UDP socket on the same port.
type datagramListener struct {
	net.Listener
	packets net.PacketConn
}

// listenDatagrams adds a UDP socket to a listener. With an error, both are closed.
func listenDatagrams(l net.Listener, at netip.AddrPort) (net.Listener, error) {
	packets, err := net.ListenPacket(family("udp", at), at.String())
	if err != nil {
		l.Close()
		return nil, err
	}
	return &datagramListener{l, packets}, nil
}

// Close closes both sockets.
func (l *datagramListener) Close() error {
	return errors.Join(l.Listener.Close(), l.packets.Close())
}

// Serve gets a listener of listenDatagrams.
func (s *datagramServer) Serve(l net.Listener) error {
	go s.answer(l.(*idleListener).Listener.(*datagramListener).packets)
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		conn.Close()
	}
}

// Shutdown is Close: an answer cannot be sent any more.
func (s *datagramServer) Shutdown(context.Context) error { return s.Close() }

// Close ends the answers that are under way.
func (s *datagramServer) Close() error {
	s.end()
	return nil
}

// answer answers until the socket is closed.
func (s *datagramServer) answer(packets net.PacketConn) {
	buffer := make([]byte, maxDatagram)
	for {
		n, from, err := packets.ReadFrom(buffer)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue // a client has gone
		}
		go s.answerOne(packets, from, bytes.Clone(buffer[:n]))
	}
}

// answerOne answers a datagram, unless it is not a request or the script breaks the connection.
func (s *datagramServer) answerOne(packets net.PacketConn, from net.Addr, datagram []byte) {
	request, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(datagram)))
	if err != nil {
		return
	}
	defer func() {
		cause := recover()
		if err, ok := cause.(error); cause != nil && !(ok && errors.Is(err, http.ErrAbortHandler)) {
			panic(cause)
		}
	}()
	answer := &datagramAnswer{header: http.Header{}, status: http.StatusOK}
	s.handler.ServeHTTP(answer, request.WithContext(context.WithValue(s.living, http.LocalAddrContextKey, packets.LocalAddr())))
	packets.WriteTo(answer.encode(request), from) // it fails only if the client or the pod has gone
}

// datagramAnswer is an answer that is sent in one datagram.
type datagramAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *datagramAnswer) Header() http.Header { return a.header }

func (a *datagramAnswer) WriteHeader(status int) { a.status = status }

func (a *datagramAnswer) Write(b []byte) (int, error) { return a.body.Write(b) }

func (a *datagramAnswer) encode(request *http.Request) []byte {
	var encoded bytes.Buffer
	answer := &http.Response{
		StatusCode: a.status, ProtoMajor: 1, ProtoMinor: 1, Request: request, Header: a.header,
		ContentLength: int64(a.body.Len()), Body: io.NopCloser(&a.body),
	}
	answer.Write(&encoded) // a buffer accepts everything
	return encoded.Bytes()
}
