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

// postBackends sends the delta if the step has one and nginx accepts it, and all backends
// otherwise.
func (t *Target) postBackends(ctx context.Context, step plan.Step, report *Report) error {
	defer t.announcer.Announce()
	if step.Delta != nil && t.postDelta(ctx, step.Delta, report) {
		return nil
	}
	answer, err := t.post(ctx, backendsPath, step.Next.Backends.Body(), report)
	if err != nil {
		return err
	}
	t.number(answer)
	return nil
}

// postDelta sends a delta and reports whether nginx accepted it. It does not retry: nginx rejects
// the delta if its backends are not the expected ones. That is also the case if nginx accepted the
// delta but its answer was lost. The caller then sends all backends.
func (t *Target) postDelta(ctx context.Context, delta []byte, report *Report) bool {
	base := t.sequence.Load()
	if base == 0 {
		return false // Lua code that is not ours
	}
	began := time.Now()
	answer, err := t.postOnce(ctx, fmt.Sprintf("%s?base=%d", deltaPath, base), delta)
	if err != nil {
		return false
	}
	t.number(answer)
	report.Posts = append(report.Posts, Post{Path: deltaPath, Bytes: len(delta), Took: time.Since(began)})
	return true
}

// number stores Lua's sequence number of the newest backends, or 0 if the Lua code is not ours and
// gives none.
func (t *Target) number(answer string) {
	sequence, err := strconv.ParseUint(answer, 10, 64)
	if err != nil {
		sequence = 0
	}
	t.sequence.Store(sequence)
}
