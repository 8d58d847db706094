package model

import (
	"cmp"

	"windtunnel.dev/controller/options"
)

// denyUnasked has locations answer 503 where the ConfigMap's global-auth-url
// decides who may come in, and cannot be asked. Package options has the finding.
func (b *builder) denyUnasked(servers []*Server) {
	if b.options.Config.GlobalAuthURL != options.Unanswered {
		return
	}
	for _, server := range servers {
		for _, l := range server.Locations {
			if l.EnableGlobalAuth && l.ExternalAuth.URL == "" && l.Redirect.URL == "" && b.options.Config.Asks(l.Path) {
				l.Denied = cmp.Or(l.Denied, new("the service that global-auth-url names cannot be asked"))
			}
		}
	}
}
