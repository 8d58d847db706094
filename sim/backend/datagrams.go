package backend

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
)

// datagramServer answers each HTTP request that comes in one UDP datagram with one datagram, on the
// port of its TCP listener. It closes TCP connections.
type datagramServer struct{ handler http.Handler }

func (s *datagramServer) Serve(l net.Listener) error {
	packets, err := net.ListenPacket("udp", l.Addr().String())
	if err != nil {
		return err
	}
	defer packets.Close()
	go s.answer(packets)
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		conn.Close()
	}
}

// Shutdown has nothing to do: Serve ends with its listener.
func (s *datagramServer) Shutdown(context.Context) error { return nil }

func (s *datagramServer) Close() error { return nil }

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
	s.handler.ServeHTTP(answer, request)
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
