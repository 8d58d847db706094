package apply

import (
	"context"
	"strings"

	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

const serversPath = "/configuration/servers"

// postServers tells Lua which host has which certificate.
func (t *Target) postServers(ctx context.Context, next plan.State, report *Report) error {
	body, err := wire.ServersAfter(t.Running().Servers, next.Servers)
	if err != nil {
		return err
	}
	said, err := t.post(ctx, serversPath, body, report)
	for line := range strings.Lines(said) { // it took them in the place of others
		t.complain(Complaint{serversPath, strings.TrimSpace(line)})
	}
	return err
}
