package apply

import (
	"context"
	"strings"

	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
)

const serversPath = "/configuration/servers"

// postServers sends the certificate of each host to Lua.
func (t *Target) postServers(ctx context.Context, next plan.State, report *Report) error {
	body, err := wire.ServersAfter(t.Running().Servers, next.Servers)
	if err != nil {
		return err
	}
	answer, err := t.post(ctx, serversPath, body, report)
	for line := range strings.Lines(answer) { // Lua accepted them, but evicted others
		t.complain(Complaint{serversPath, strings.TrimSpace(line)})
	}
	return err
}
