package apply

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"windtunnel.dev/controller/plan"
)

const (
	backendsPath = "/configuration/backends"
	deltaPath    = "/configuration/backends/delta"
)

// postBackends sends what changed, where that is enough, or all backends.
func (t *Target) postBackends(ctx context.Context, step plan.Step, report *Report) error {
	if step.Delta != nil && t.postDelta(ctx, step.Delta, report) {
		return nil
	}
	said, err := t.post(ctx, backendsPath, step.Next.Backends.Body(), report)
	if err != nil {
		return err
	}
	t.number(said)
	return nil
}

// postDelta says whether nginx took it. It is not tried twice: if nginx has
// other backends than we believe, or took it and only its answer got lost, it
// refuses, and all backends are to be sent.
func (t *Target) postDelta(ctx context.Context, delta []byte, report *Report) bool {
	base := t.sequence.Load()
	if base == 0 {
		return false // Lua code of others
	}
	began := time.Now()
	said, err := t.postOnce(ctx, fmt.Sprintf("%s?base=%d", deltaPath, base), delta)
	if err != nil {
		return false
	}
	t.number(said)
	report.Posts = append(report.Posts, Post{Path: deltaPath, Bytes: len(delta), Took: time.Since(began)})
	return true
}

// number keeps the number that Lua gave the newest backends. Lua code of
// others gives none.
func (t *Target) number(said string) {
	sequence, err := strconv.ParseUint(said, 10, 64)
	if err != nil {
		sequence = 0
	}
	t.sequence.Store(sequence)
}
