package lua_test

import (
	"maps"
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
	first  answer // to the request by which workers found it
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
		w := &worker{site: s, client: &http.Client{
			Transport:     &http.Transport{MaxConnsPerHost: 1, DisableCompression: true},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
		w.first = w.get("X-Upstream", upstream)
		if found[w.pid] != nil {
			w.client.CloseIdleConnections()
			continue
		}
		found[w.pid] = w
		s.t.Cleanup(w.client.CloseIdleConnections)
		if len(found) == s.Workers {
			return slices.Collect(maps.Values(found))
		}
	}
	s.t.Fatalf("reached %d workers of %d", len(found), s.Workers)
	return nil
}

// get asks for / with pairs of header names and values.
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
	if w.pid != 0 && w.pid != pid {
		t.Fatalf("worker %[2]d answers on the connection to worker %[1]d", w.pid, pid)
	}
	w.pid = pid
	return got
}

func do(t *testing.T, client *http.Client, request *http.Request) answer {
	t.Helper()
	got := nginxtest.Do(t, client, request)
	return answer{got.Status, got.Header.Get("X-Pod"), got.Header, got.Body}
}
