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

// redirected is the dot of the template for a host that only redirects.
type redirected struct {
	All      *root
	Redirect model.Redirect
}

// buildServerName returns a host for server_name. As in the Ingress API, a wildcard matches one
// label; nginx's own wildcard would match several.
func buildServerName(host string) string {
	domain, wild := strings.CutPrefix(host, "*.")
	if !wild {
		return host
	}
	return `~^(?<subdomain>[\w-]+)\.` + strings.ReplaceAll(domain, ".", `\.`) + "$"
}
