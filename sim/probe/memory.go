package probe

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"windtunnel.dev/internal/promtext"
	"windtunnel.dev/sim/event"
)

const (
	memoryEvery    = 5 * time.Second
	memoryPatience = 2 * time.Second // for an answer
)

// The metrics with memory figures: that of Go programs, and those of the bundled controller.
const (
	heapMetric         = "go_memstats_heap_alloc_bytes"
	dictionaryPrefix   = "nginx_ingress_controller_lua_dictionary_"
	dictionaryCapacity = dictionaryPrefix + "capacity_bytes"
	dictionaryFree     = dictionaryPrefix + "free_bytes"
)

// WatchMemory logs, every five seconds until ctx ends, the memory that a subject's controller
// reports at the URL of its metrics, in Prometheus's text format. While the controller does not
// answer, nothing is logged. The returned channel is closed when the watch has ended.
func WatchMemory(ctx context.Context, log *event.Log, subject, url string) (done <-chan struct{}) {
	w := &memoryWatch{log: log, subject: subject, url: url, trouble: trouble{log: log, subject: subject}}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.run(ctx)
	}()
	return ended
}

type memoryWatch struct {
	log          *event.Log
	subject, url string
	trouble      trouble
}

func (w *memoryWatch) run(ctx context.Context) {
	ticker := time.NewTicker(memoryEvery)
	defer ticker.Stop()
	for {
		w.look(ctx)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// look reads the metrics once. Other events already report a controller that does not answer; an invalid
// answer is trouble.
func (w *memoryWatch) look(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, memoryPatience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, nil)
	if err != nil {
		w.trouble.report("memory is not sampled", err)
		return
	}
	request.Close = true // an idle connection would keep a server from ending
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	m, err := promtext.Read(response.Body, heapMetric, dictionaryPrefix)
	switch {
	case ctx.Err() != nil:
	case response.StatusCode != http.StatusOK:
		w.trouble.report("memory is not sampled", fmt.Errorf("%s answers %s", w.url, response.Status))
	case err != nil:
		w.trouble.report("memory is not sampled", fmt.Errorf("%s: %w", w.url, err))
	default:
		if told := memoryOf(m); told.Heap > 0 || told.Dictionaries != nil {
			w.log.Write(event.Event{At: w.log.Now(), Subject: w.subject, Memory: &told})
		}
	}
}

func memoryOf(m promtext.Metrics) event.Memory {
	var told event.Memory
	heap, _ := m.Value(heapMetric)
	told.Heap = int64(heap)
	free := m.By(dictionaryFree, "dictionary")
	for name, capacity := range m.By(dictionaryCapacity, "dictionary") {
		if told.Dictionaries == nil {
			told.Dictionaries = map[string]event.Dictionary{}
		}
		told.Dictionaries[name] = event.Dictionary{Capacity: int64(capacity), Free: int64(free[name])}
	}
	return told
}
