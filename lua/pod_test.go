package lua_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// addresses counts the loopback addresses in use. Each test server has its own address, so no other
// server can take its port before it listens.
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

// pods starts servers, each on its own address, that respond with their address and the request.
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
	if err := server.Listener.Close(); err != nil { // NewUnstartedServer listens on another address
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	host, port, _ := net.SplitHostPort(address)
	return endpoint{host, port}
}
