package lua_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"windtunnel.dev/internal/port"
)

// addresses counts the loopback addresses handed out: each test server has its
// own, so that no port is taken by another between its choice and its use.
var addresses atomic.Int32

func listen(t *testing.T) net.Listener {
	t.Helper()
	n := addresses.Add(1)
	listener, err := net.Listen("tcp", fmt.Sprintf("127.88.%d.%d:0", n/200, n%200+1))
	if err != nil {
		t.Fatal(err)
	}
	return listener
}

// pods starts servers on addresses of their own that tell their address and
// what they were sent.
func pods(t *testing.T, n int) []endpoint {
	t.Helper()
	var endpoints []endpoint
	for range n {
		endpoints = append(endpoints, servePod(t, listen(t)))
	}
	return endpoints
}

func servePod(t *testing.T, listener net.Listener) endpoint {
	address := listener.Addr().String()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Pod", address)
		for _, name := range []string{"Host", "Port", "Proto"} {
			fmt.Fprintln(w, name, r.Header.Get("X-Forwarded-"+name))
		}
	}))
	if err := server.Listener.Close(); err != nil { // it brings one on another address
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	host, port, _ := net.SplitHostPort(address)
	return endpoint{host, port}
}

// freeAddress is one that nobody listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener := listen(t)
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	return listener.Addr().String()
}

// statusAddress is one for the status server. Lua lets nobody be proxied to its
// port on any loopback address, so it is none that the kernel gives to pods.
func statusAddress(t *testing.T) string {
	t.Helper()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ := net.SplitHostPort(freeAddress(t))
	return fmt.Sprintf("%s:%d", host, free)
}
