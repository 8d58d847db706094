package lua_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// nginx does not count a try that fails on a kept connection. So a request that makes the pods
// close their connections may be tried once for each kept connection, but then it must end.
func TestTriesOnKeptConnectionsEnd(t *testing.T) {
	s := start(t, setup{Workers: 1})
	s.expectLog("prematurely closed connection")
	const kept = 12
	shop := &closingPods{}
	together := sync.WaitGroup{}
	together.Add(kept)
	shop.first = func() { together.Done(); together.Wait() } // so that each opens a connection
	w := s.serve(backend{Name: "shop", Endpoints: []endpoint{shop.serve(t), shop.serve(t), shop.serve(t)}})[0]
	shop.warming.Store(true)
	var clients sync.WaitGroup
	for range kept {
		clients.Go(func() {
			c := &http.Client{Transport: new(connection)}
			defer c.CloseIdleConnections()
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.HTTP+"/", nil)
			if err != nil {
				t.Error(err)
				return
			}
			request.Header.Set("X-Upstream", "shop")
			nginxtest.Do(t, c, request)
		})
	}
	clients.Wait()
	shop.warming.Store(false)
	got := w.getPath("/broken", "X-Upstream", "shop")
	if got.status != http.StatusBadGateway {
		t.Errorf("status %d, want %d", got.status, http.StatusBadGateway)
	}
	if tries := shop.broken.Load(); tries < 3 || tries > kept+4 { // the worker's own connection is kept as well
		t.Errorf("%d tries, want 3 to %d", tries, kept+4)
	}
}

// closingPods close the connection of a request for /broken without an answer, 500 times.
type closingPods struct {
	first   func() // called for each request other than /broken while warming is true
	warming atomic.Bool
	broken  atomic.Int32
}

func (p *closingPods) serve(t *testing.T) endpoint {
	listener := listen(t)
	server := httptest.NewUnstartedServer(p)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	return endpoint{host, port}
}

func (p *closingPods) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/broken" {
		if p.broken.Add(1) > 500 {
			return // the tries do not end
		}
		panic(http.ErrAbortHandler)
	}
	if p.warming.Load() {
		p.first()
	}
}
