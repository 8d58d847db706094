package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"time"
)

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{token}/{$}", s.serveFile("page.html"))
	for name := range s.page {
		mux.HandleFunc("GET /{token}/"+name, s.serveFile(name))
	}
	mux.HandleFunc("GET /{token}/events", s.serveEvents)
	mux.HandleFunc("POST /{token}/end", s.serveEnd)
	return s.guard(mux)
}

func (s *Server) serveFile(name string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", s.page[name].kind)
		_, _ = w.Write(s.page[name].content)
	}
}

// serveEnd ends the run.
func (s *Server) serveEnd(w http.ResponseWriter, _ *http.Request) {
	s.options.End()
	w.WriteHeader(http.StatusAccepted)
}

// serveEvents sends the state of the run, then its changes, and finally its result. A slow browser gets
// fewer updates, each with all changes since the last one.
func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	connection := http.NewResponseController(w)
	var seen seen
	send := func(last bool) error {
		var message bytes.Buffer
		message.WriteString("data: ")
		if err := json.NewEncoder(&message).Encode(s.update(&seen, last)); err != nil {
			return err
		}
		message.WriteString("\n")
		if err := connection.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return err
		}
		if _, err := w.Write(message.Bytes()); err != nil {
			return err
		}
		return connection.Flush()
	}
	for {
		if send(false) != nil {
			return
		}
		select {
		case <-ticker.C:
		case <-r.Context().Done():
			return
		case <-s.over:
			_ = send(true)
			return
		}
	}
}
