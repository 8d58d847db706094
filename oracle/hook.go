package main

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
)

// hook is a webhook server that both API servers call. Each has its own address, so that their
// reviews can be compared. The last element of the address is the action: allow, deny or label.
type hook struct {
	server *httptest.Server
	mu     sync.Mutex
	heard  map[string][]any // reviews, by the part of the address that identifies server and story
}

func startHook() *hook {
	h := &hook{heard: map[string][]any{}}
	h.server = httptest.NewTLSServer(h)
	return h
}

func (h *hook) close() { h.server.Close() }

// variables returns the values of ${hook.url} and ${hook.ca} in stories.
func (h *hook) variables(whose string) map[string]any {
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.server.Certificate().Raw})
	return map[string]any{"url": h.server.URL + "/" + whose, "ca": base64.StdEncoding.EncodeToString(ca)}
}

func (h *hook) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var review struct {
		APIVersion, Kind string
		Request          map[string]any
	}
	if err := json.Unmarshal(body, &review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	at := strings.LastIndex(req.URL.Path, "/")
	whose, action := strings.Trim(req.URL.Path[:at], "/"), req.URL.Path[at+1:]
	answer := map[string]any{"uid": review.Request["uid"], "allowed": true}
	switch action {
	case "deny":
		answer["allowed"], answer["status"] = false, map[string]any{"code": 403, "message": "not on my watch"}
	case "label":
		patch := `[{"op":"add","path":"/metadata/labels","value":{"hooked":"yes"}}]`
		answer["patchType"], answer["patch"] = "JSONPatch", base64.StdEncoding.EncodeToString([]byte(patch))
	}
	h.mu.Lock()
	h.heard[whose] = append(h.heard[whose], review.Request)
	h.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"apiVersion": review.APIVersion, "kind": review.Kind, "response": answer})
}

// reviews returns the reviews that one server sent for one story.
func (h *hook) reviews(whose string) []any {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]any{}, h.heard[whose]...)
}
