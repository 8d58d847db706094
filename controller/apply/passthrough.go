package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"windtunnel.dev/controller/passthrough"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

// passthroughGrace is how long connections that go to pods as they are may go
// on when nginx quits: as long as nginx's own by default
// (worker-shutdown-timeout).
const passthroughGrace = 240 * time.Second

// pass tells our own TLS listener which hosts go where.
func (t *Target) pass(next plan.State) error {
	if t.passthrough == nil {
		return errors.New("there is no TLS listener to be told of passthrough")
	}
	var told wire.Passthrough
	if len(next.Passthrough) > 0 {
		if err := json.Unmarshal(next.Passthrough, &told); err != nil {
			return fmt.Errorf("reading what the TLS listener is told: %w", err)
		}
	}
	return t.passthrough.Set(passthrough.Config(told))
}

func (t *Target) closePassthrough(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, passthroughGrace)
	defer cancel()
	t.passthrough.Close(ctx)
}
