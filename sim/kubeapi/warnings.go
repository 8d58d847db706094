package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
)

// warningHeader is the Warning headers of a response. Webhooks are asked at the same
// time, and more than once when a write is tried again.
type warningHeader struct {
	mu     sync.Mutex
	header http.Header
}

func (w *warningHeader) add(text string) {
	if w == nil {
		return // a write that did not come over HTTP: there is nobody to tell
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	warning := fmt.Sprintf("299 - %q", text)
	if !slices.Contains(w.header["Warning"], warning) {
		w.header.Add("Warning", warning)
	}
}
