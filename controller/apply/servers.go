package apply

import (
	"context"

	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

// postServers tells Lua which host has which certificate.
func (t *Target) postServers(ctx context.Context, next plan.State, report *Report) error {
	body, err := wire.ServersAfter(t.Running().Servers, next.Servers)
	if err != nil {
		return err
	}
	said, err := t.post(ctx, "/configuration/servers", body, report)
	report.warn(said)
	return err
}
