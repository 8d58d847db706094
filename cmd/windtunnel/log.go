package main

import (
	"context"
	"errors"
	"io"
	"log/slog"

	"k8s.io/klog/v2"
)

// logTo sends what client-go logs to out. Call it once, before anything uses client-go.
func logTo(out io.Writer) { klog.SetSlogLogger(slog.New(uncancelled{slog.NewTextHandler(out, nil)})) }

// uncancelled drops records about cancelled requests, because every command cancels requests when it ends.
type uncancelled struct{ slog.Handler }

// Handle passes a record on unless it is about a cancelled request.
func (h uncancelled) Handle(ctx context.Context, record slog.Record) error {
	cancelled := false
	record.Attrs(func(a slog.Attr) bool {
		err, ok := a.Value.Any().(error)
		cancelled = ok && errors.Is(err, context.Canceled)
		return !cancelled
	})
	if cancelled {
		return nil
	}
	return h.Handler.Handle(ctx, record)
}

// WithAttrs implements slog.Handler.
func (h uncancelled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return uncancelled{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (h uncancelled) WithGroup(name string) slog.Handler {
	return uncancelled{h.Handler.WithGroup(name)}
}
