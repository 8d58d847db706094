package apply

import (
	"context"
	"strings"

	"windtunnel.dev/controller/plan"
)

const serversPath = "/configuration/servers"

// postServers sends the certificates of hosts to Lua.
func (t *Target) postServers(ctx context.Context, next plan.State, report *Report) error {
	body, err := next.CertificatesBody(t.Running())
	if err != nil {
		return err
	}
	answer, err := t.post(ctx, serversPath, body, report)
	for line := range strings.Lines(answer) { // Lua accepted them, but evicted others
		t.complain(Complaint{serversPath, strings.TrimSpace(line)})
	}
	return err
}
