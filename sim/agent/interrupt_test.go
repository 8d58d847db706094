package agent

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
)

// An interrupt while a round begins stops the generators that have begun, like any other failure.
func TestInterruptStopsGenerators(t *testing.T) {
	log := newRunLog()
	ctx, interrupt := context.WithCancel(t.Context())
	var ended atomic.Bool
	first := start(t, "first", log.Log, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/traffic/end" {
				ended.Store(true)
			}
			next.ServeHTTP(w, r)
		})
	})
	second := start(t, "second", log.Log, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/traffic/begin" {
				interrupt()
				http.Error(w, "too late", http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	})
	generators := NewTraffic([]*Peer{first, second}, log.Log, "a")
	defer generators.Close()
	to, _ := answering(t)
	if _, err := generators.Begin(ctx, orders(to)); err == nil {
		t.Error("the round has begun")
	}
	if !ended.Load() {
		t.Error("a generator goes on")
	}
	for _, e := range log.all() {
		if e.Missing != nil {
			t.Errorf("missing: %+v", e.Missing)
		}
	}
}
