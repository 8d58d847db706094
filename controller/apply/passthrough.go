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

// passthroughGrace is how long connections with TLS passthrough may stay open after nginx is told
// to quit. It equals the default for nginx's own connections (worker-shutdown-timeout).
const passthroughGrace = 240 * time.Second

// pass configures our own TLS listener: the address for each host.
func (t *Target) pass(next plan.State) error {
	if t.passthrough == nil {
		return errors.New("the plan configures TLS passthrough, but there is no TLS listener")
	}
	var config wire.Passthrough
	if len(next.Passthrough) > 0 {
		if err := json.Unmarshal(next.Passthrough, &config); err != nil {
			return fmt.Errorf("decoding the configuration of the TLS listener: %w", err)
		}
	}
	return t.passthrough.Set(passthrough.Config(config))
}

func (t *Target) closePassthrough(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, passthroughGrace)
	defer cancel()
	t.passthrough.Close(ctx)
}
