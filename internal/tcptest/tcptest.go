// Package tcptest runs small TCP servers for tests. Its one rule: a server stops when its test
// ends.
package tcptest

import (
	"net"
	"testing"
)

// Serve listens on an address, such as 127.0.0.1:0, and calls answer for each connection, in a
// goroutine; the connection is closed when answer returns. It returns the address that it listens
// on.
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
