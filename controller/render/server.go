package render

import (
	"strings"

	"windtunnel.dev/controller/model"
)

// served is the dot of a server's template.
type served struct {
	First  *root
	Second *model.Server
}

// redirected is the dot of the template of a host that only redirects.
type redirected struct {
	All      *root
	Redirect model.Redirect
}

// buildServerName is a host for server_name. A wildcard stands for one label,
// as the Ingress API has it; nginx's own would stand for many.
func buildServerName(host string) string {
	domain, wild := strings.CutPrefix(host, "*.")
	if !wild {
		return host
	}
	return `~^(?<subdomain>[\w-]+)\.` + strings.ReplaceAll(domain, ".", `\.`) + "$"
}
