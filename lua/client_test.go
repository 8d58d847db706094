package lua_test

import (
	"bufio"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strconv"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// worker is a connection to one worker.
type worker struct {
	site   *site
	pid    int
	client *http.Client
	first  answer // to the first request, which identified the worker
}

// connection sends each request on one connection, until nginx announces that it closes the
// connection. An http.Transport may replace a connection at any time, and the new one may lead to
// another worker.
type connection struct {
	conn    net.Conn
	answers *bufio.Reader
}

// RoundTrip sends a request. The body of the last response must have been read.
func (c *connection) RoundTrip(request *http.Request) (*http.Response, error) {
	if c.conn == nil {
		conn, err := net.Dial("tcp", request.URL.Host)
		if err != nil {
			return nil, err
		}
		c.conn, c.answers = conn, bufio.NewReader(conn)
	}
	if err := request.Write(c.conn); err != nil {
		return nil, err
	}
	response, err := http.ReadResponse(c.answers, request)
	if err == nil && response.Close {
		response.Body = closing{response.Body, c}
	}
	return response, err
}

// CloseIdleConnections closes the connection; the next request opens another one.
func (c *connection) CloseIdleConnections() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}

// closing is the body of the last response on a connection.
type closing struct {
	io.ReadCloser
	connection *connection
}

func (c closing) Close() error {
	c.connection.CloseIdleConnections()
	return c.ReadCloser.Close()
}

// answer is the response to a client.
type answer struct {
	status int
	pod    string // that sent it
	header http.Header
	body   string
}

// workers connects to every worker, with a first request for an upstream.
func (s *site) workers(upstream string) []*worker {
	s.t.Helper()
	found := map[int]*worker{}
	for range 500 {
		c := new(connection)
		w := &worker{site: s, client: &http.Client{
			Transport:     c,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
		w.first = w.get("X-Upstream", upstream)
		if found[w.pid] != nil {
			c.CloseIdleConnections()
			continue
		}
		found[w.pid] = w
		s.t.Cleanup(c.CloseIdleConnections)
		if len(found) == s.Workers {
			return slices.Collect(maps.Values(found))
		}
	}
	s.t.Fatalf("reached %d workers of %d", len(found), s.Workers)
	return nil
}

// get requests / with pairs of header names and values.
func (w *worker) get(header ...string) answer { return w.getPath("/", header...) }

func (w *worker) getPath(path string, header ...string) answer {
	t := w.site.t
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+w.site.HTTP+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			request.Host = header[i+1]
		}
	}
	got := do(t, w.client, request)
	pid, err := strconv.Atoi(got.header.Get("X-Worker"))
	if err != nil {
		t.Fatalf("no worker in the response %v", got.header)
	}
	if w.pid != 0 && w.pid != pid { // nginx closed the connection after the last response
		w.client.CloseIdleConnections()
		return w.getPath(path, header...)
	}
	w.pid = pid
	return got
}

func do(t *testing.T, client *http.Client, request *http.Request) answer {
	t.Helper()
	got := nginxtest.Do(t, client, request)
	return answer{got.Status, got.Header.Get("X-Pod"), got.Header, got.Body}
}
