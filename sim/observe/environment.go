package observe

import (
	"strings"

	"windtunnel.dev/internal/plural"
)

// environment describes the installation and the observation.
func (ob *observation) environment() map[string]string {
	all := map[string]string{
		"cluster":     ob.API.Host,
		"controllers": plural.Of(len(ob.controllers.now()), "pod"),
		"clock":       "the time of a change is when the API reported it",
	}
	for _, c := range ob.controllers.now() {
		if container := c.container(); container != nil {
			all["controller"] = container.Image
		}
	}
	if version, err := ob.client.Discovery().ServerVersion(); err == nil {
		all["kubernetes"] = version.GitVersion
	}
	if ob.HTTP.IsValid() {
		all["address"] = ob.HTTP.String()
	}
	if len(ob.sight.forbidden) > 0 {
		var names []string
		for _, p := range ob.sight.forbidden {
			names = append(names, p.String())
		}
		all["not permitted"] = strings.Join(names, ", ")
	}
	if ob.Class != "" {
		all["class"] = ob.Class
	}
	return all
}
