package apply

import (
	"context"
	"strconv"

	"windtunnel.dev/controller/plan"
)

// postBackends sends the backends and keeps the number that Lua gave them.
// Lua code of others gives none.
func (t *Target) postBackends(ctx context.Context, step plan.Step, report *Report) error {
	said, err := t.post(ctx, "/configuration/backends", step.Next.Backends.Body(), report)
	if err != nil {
		return err
	}
	sequence, err := strconv.ParseUint(said, 10, 64)
	if err != nil {
		sequence = 0
	}
	t.sequence.Store(sequence)
	return nil
}
