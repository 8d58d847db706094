package probe

import (
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

const memoryMetrics = `# TYPE go_memstats_heap_alloc_bytes gauge
go_memstats_heap_alloc_bytes 1.2345e+07
nginx_ingress_controller_lua_dictionary_capacity_bytes{controller_pod="a",dictionary="configuration_data"} 2.097152e+07
nginx_ingress_controller_lua_dictionary_free_bytes{controller_pod="a",dictionary="configuration_data"} 2.0447232e+07
`

// looked returns the event that is logged for one answer.
func looked(t *testing.T, status int, text string) event.Event {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, text)
	}))
	t.Cleanup(server.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var got event.Event
	log := event.NewLog(io.Discard, time.Now())
	log.Tap(func(e event.Event) { got = e; cancel() })
	<-WatchMemory(ctx, log, "a", server.URL)
	return got
}

func TestWatchMemory(t *testing.T) {
	got := looked(t, http.StatusOK, memoryMetrics)
	want := map[string]event.Dictionary{"configuration_data": {Capacity: 20971520, Free: 20447232}}
	if got.Subject != "a" || got.Memory == nil || got.Memory.Heap != 12345000 || !maps.Equal(got.Memory.Dictionaries, want) {
		t.Errorf("got %+v", got)
	}
	// Other controllers report only their heap.
	if got := looked(t, http.StatusOK, "go_memstats_heap_alloc_bytes 5\n"); got.Memory == nil || got.Memory.Heap != 5 || got.Memory.Dictionaries != nil {
		t.Errorf("got %+v", got)
	}
	for text, status := range map[string]int{"Not found": http.StatusNotFound, "go_memstats_heap_alloc_bytes much\n": http.StatusOK} {
		if got := looked(t, status, text); got.Trouble == nil || !strings.Contains(got.Trouble.Detail, "http://") {
			t.Errorf("%d %q: %+v", status, text, got)
		}
	}
}
