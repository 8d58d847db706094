package nginx

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// patience bounds every wait. It is long because it only elapses when something is broken.
const patience = 20 * time.Second

// write writes a configuration with two workers and a server that listens at address and contains
// the lines. It returns its path.
func write(t *testing.T, address, lines string) string {
	t.Helper()
	dir := t.TempDir()
	// If root runs the test, nginx's workers are another user. They must enter all parent folders.
	for d := dir; len(d) > len(os.TempDir()); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "nginx.conf")
	rewrite(t, path, address, lines)
	return path
}

func rewrite(t *testing.T, path, address, lines string) {
	t.Helper()
	dir := filepath.Dir(path)
	conf := fmt.Sprintf(`daemon off;
worker_processes 2;
pid %[1]s/nginx.pid;
error_log stderr notice;
events {}
http {
access_log off;
client_body_temp_path %[1]s/body;
proxy_temp_path %[1]s/proxy;
fastcgi_temp_path %[1]s/fastcgi;
uwsgi_temp_path %[1]s/uwsgi;
scgi_temp_path %[1]s/scgi;
server {
listen %[2]s;
%[3]s
}
}
`, dir, address, lines)
	if err := os.WriteFile(path, []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
}

// freeAddress returns an address on which nothing listens. It has its own IP address, so other
// tests do not get the same port.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.89.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return l.Addr().String()
}

func start(t *testing.T, n *Nginx, conf string) *Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	p, err := n.Start(ctx, conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = p.Quit(ctx) // by force: the test has ended
	})
	return p
}

// await polls /proc until want returns true for the workers.
func await(t *testing.T, p *Process, what string, want func([]Worker) bool) []Worker {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		workers, err := p.Workers()
		if err != nil {
			t.Fatal(err)
		}
		if want(workers) {
			return workers
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("waited for %s; the workers are %+v", what, workers)
		}
	}
}

func twoActive(workers []Worker) bool {
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
	case <-time.After(patience):
		t.Fatal("the request did not reach the backend")
	}
	return status
}
