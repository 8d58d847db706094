package installed

import (
	"context"
	"slices"

	"windtunnel.dev/sim/permission"
)

// permissions returns all permissions that a run with these options requires. deploy/cases has roles with
// these and the helpful ones.
func (o Options) permissions() []permission.Permission {
	all := slices.Concat(
		permission.To("", "namespaces", "create", "delete", "get", "list", "update"),
		permission.To("", "services", "create", "delete", "update"),
		permission.To("", "secrets", "create", "delete", "update"),
		permission.To("", "configmaps", "create", "delete", "get", "update"),
		permission.To("discovery.k8s.io", "endpointslices", "create", "delete", "update"),
		permission.To("networking.k8s.io", "ingresses", "create", "delete", "list", "update"),
		permission.To("networking.k8s.io", "ingressclasses", "list"),
		permission.To("coordination.k8s.io", "leases", "create", "get", "update"),
	)
	if !o.LocalPods {
		all = slices.Concat(all,
			permission.To("apps", "deployments", "create", "get"),
			permission.To("", "pods", "list"),
			permission.To("", "pods/proxy", "create"),
		)
	}
	if o.CatchAll {
		all = slices.Concat(all, permission.To("networking.k8s.io", "ingressclasses", "create", "delete", "get", "update"))
	}
	return all
}

// helpful are the permissions that a run can do without: to find the number of replicas and the address
// of the controller.
var helpful = slices.Concat(
	permission.To("apps", "deployments", "list"),
	permission.To("apps", "daemonsets", "list"),
	permission.To("", "services", "list"),
)

func (d *Driver) requirePermissions(ctx context.Context) error {
	return permission.Require(ctx, d.client, d.permissions(), "deploy/cases")
}
