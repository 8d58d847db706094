package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestCancelledRequestsAreNotLogged(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(uncancelled{slog.NewTextHandler(&out, nil)}).With("kind", "Pod").WithGroup("request")
	log.Error("reading", "err", fmt.Errorf("listing: %w", context.Canceled))
	if out.Len() > 0 {
		t.Errorf("a cancelled request is logged: %s", out.String())
	}
	log.Error("reading", "err", errors.New("refused"))
	if !strings.Contains(out.String(), "kind=Pod request.err=refused") {
		t.Errorf("another error is logged as %q", out.String())
	}
}
