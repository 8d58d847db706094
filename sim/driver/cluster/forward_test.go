package cluster

import (
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/httpstream"
)

// endless is a tunnel to a pod that sends until its stream is reset.
type endless struct {
	reset chan struct{}
	once  sync.Once
}

func (e *endless) Dial(...string) (httpstream.Connection, string, error) {
	return tunnel{of: e}, "portforward.k8s.io", nil
}

type tunnel struct {
	httpstream.Connection
	of *endless
}

func (c tunnel) CreateStream(h http.Header) (httpstream.Stream, error) {
	return stream{of: c.of, failures: h.Get("streamType") == "error"}, nil
}
func (tunnel) RemoveStreams(...httpstream.Stream) {}
func (tunnel) CloseChan() <-chan bool             { return nil }

// stream is one of the two streams of a connection. The one with the failures ends with the other.
type stream struct {
	httpstream.Stream
	of       *endless
	failures bool
}

func (s stream) Read(b []byte) (int, error) {
	if s.failures {
		<-s.of.reset
		return 0, io.EOF
	}
	select {
	case <-s.of.reset:
		return 0, io.EOF
	default:
		return len(b), nil
	}
}

func (stream) Write(b []byte) (int, error) { return len(b), nil }
func (stream) Close() error                { return nil }

func (s stream) Reset() error {
	s.of.once.Do(func() { close(s.of.reset) })
	return nil
}

// A client that leaves in the middle of an answer ends its connection in the tunnel. Otherwise, what the
// pod still sends would block the other connections.
func TestForwardEndsWithItsClient(t *testing.T) {
	e := &endless{reset: make(chan struct{})}
	f := &forward{port: httpPort, dialer: e}
	client, server := net.Pipe()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = f.connect(server)
	}()
	if _, err := io.ReadFull(client, make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	client.Close()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatal("the connection goes on")
	}
}
