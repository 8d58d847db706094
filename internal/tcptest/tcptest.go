// Package tcptest has TCP servers of a few lines. It stands between tests, which
// say what such a server answers, and the socket. Its one rule: what it opens ends
// with the test.
package tcptest

import (
	"net"
	"testing"
)

// Serve listens on an address, such as 127.0.0.1:0, and has each connection
// answered, which is closed then.
func Serve(t testing.TB, address string, answer func(net.Conn)) net.Addr {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				answer(conn)
			}()
		}
	}()
	return listener.Addr()
}
