package backend

import (
	"errors"
	"net"
	"testing"
	"time"
)

// A silent pod accepts connections and says nothing until it ends.
func TestSilent(t *testing.T) {
	c, err := Script{Protocol: Silent}.compile()
	if err != nil {
		t.Fatal(err)
	}
	server := newScriptedServer(nil, c)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
	conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || !isTimeout(err) {
		t.Errorf("read %d bytes with error %v, want none in time", n, err)
	}
	listener.Close()
	<-served
	server.Close()
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil || isTimeout(err) {
		t.Errorf("read %d bytes with error %v, want the end", n, err)
	}
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}
