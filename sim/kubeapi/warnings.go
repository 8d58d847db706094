package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// warningHeader collects the Warning headers of a response, each text once. Webhooks add them in
// parallel, and again when a write is retried.
type warningHeader struct {
	mu     sync.Mutex
	header http.Header
}

func (w *warningHeader) add(text string) {
	if w == nil {
		return // the write did not come over HTTP, so nobody reads warnings
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	warning := fmt.Sprintf("299 - %q", text)
	if !slices.Contains(w.header["Warning"], warning) {
		w.header.Add("Warning", warning)
	}
}
