package nginx_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/nginxtest"
)

// listenAt returns a configuration with two workers and a server that listens at address and
// contains the lines.
func listenAt(address, lines string) nginxtest.Conf {
	return nginxtest.Conf{HTTP: "server {\nlisten " + address + ";\n" + lines + "\n}"}
}

func start(t *testing.T, address, lines string) *nginxtest.Nginx {
	t.Helper()
	return nginxtest.Start(t, listenAt(address, lines))
}

func twoActive(workers []nginx.Worker) bool {
	return len(workers) == 2 && !workers[0].Draining && !workers[1].Draining
}

// slow is a backend that blocks its requests until it is released, so that a worker has a request
// to finish.
type slow struct {
	address  string
	arrived  chan struct{}
	released chan struct{}
}

func newSlow(t *testing.T) *slow {
	s := &slow{arrived: make(chan struct{}, 1), released: make(chan struct{})}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		s.arrived <- struct{}{}
		select {
		case <-s.released:
		case <-r.Context().Done():
		}
	}))
	s.address = server.Listener.Addr().String()
	t.Cleanup(server.Close)
	return s
}

// hold sends a request, waits until it reaches the backend, and returns a channel with its status
// line.
func (s *slow) hold(t *testing.T, address string) <-chan string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "GET / HTTP/1.0\r\nHost: a\r\n\r\n")
	status := make(chan string, 1)
	go func() {
		line, err := bufio.NewReader(conn).ReadString('\n')
		status <- fmt.Sprint(line, err)
	}()
	select {
	case <-s.arrived:
	case <-time.After(nginxtest.Patience):
		t.Fatal("the request did not reach the backend")
	}
	return status
}
