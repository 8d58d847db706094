package model

import (
	"cmp"

	"windtunnel.dev/controller/options"
)

// denyWithoutGlobalAuth makes locations answer 503 if the ConfigMap's global-auth-url applies to
// them but cannot be used. Package options reports the finding.
func (b *builder) denyWithoutGlobalAuth(servers []*Server) {
	if b.options.Config.GlobalAuthURL != options.Unanswered {
		return
	}
	for _, server := range servers {
		for _, l := range server.Locations {
			if l.EnableGlobalAuth && l.ExternalAuth.URL == "" && l.Redirect.URL == "" && b.options.Config.Asks(l.Path) {
				l.Denied = cmp.Or(l.Denied, new("the service of global-auth-url cannot be called"))
			}
		}
	}
}
