package migrate

import (
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/migrate/report"
)

// defaultPods is the number of pods of a service if the manifests have no endpoints.
const defaultPods = 2

// SizeOf returns the size of the cluster that manifests describe: the ingresses that are asked about,
// the services that they route to, and the average number of endpoints of an EndpointSlice.
func SizeOf(derived derive.Derived, manifests []manifest.Manifest) report.Size {
	size := report.Size{Pods: defaultPods}
	services := map[string]bool{}
	for _, c := range derived.Cases {
		size.Ingresses += len(c.Ingresses)
		for _, i := range c.Ingresses {
			for _, name := range i.Services {
				services[name] = true
			}
		}
	}
	size.Services = max(len(services), 1)
	slices, endpoints := 0, 0
	for _, m := range manifests {
		if m.Object.GetKind() != "EndpointSlice" {
			continue
		}
		if all, ok := m.Object.Object["endpoints"].([]any); ok && len(all) > 0 {
			slices++
			endpoints += len(all)
		}
	}
	if slices > 0 {
		size.Pods = max(1, (endpoints+slices/2)/slices)
	}
	return size
}
