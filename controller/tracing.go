package controller

import (
	"sync"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/options"
)

// tracing remembers where the file of nginx's tracer could be written.
type tracing struct {
	mu   sync.Mutex
	path string
}

// place puts the default in the place of a path where the file cannot be, so
// that one key does not stop every reload.
func (t *tracing) place(opts *options.Options, defaults options.Config) []options.Finding {
	t.mu.Lock()
	defer t.mu.Unlock()
	wish := opts.Config.OpentelemetryConfig
	if wish == defaults.OpentelemetryConfig || wish == t.path {
		return nil
	}
	if err := apply.Writable(opts.Path(wish)); err != nil {
		opts.Config.OpentelemetryConfig = defaults.OpentelemetryConfig
		return []options.Finding{{Key: "opentelemetry-config", Value: wish, Reason: err.Error(), Used: defaults.OpentelemetryConfig}}
	}
	t.path = wish
	return nil
}
