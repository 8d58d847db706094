package cluster

import (
	"context"
	"slices"

	"windtunnel.dev/sim/permission"
)

// permissions are all permissions that a run requires. deploy/cluster has a role with these and the
// helpful ones. The user must also have the permissions that it grants to the controller.
var permissions = slices.Concat(
	permission.To("", "namespaces", "create", "delete", "get", "list"),
	permission.To("", "configmaps", "create", "delete", "list", "update", "watch"),
	permission.To("", "secrets", "create", "delete", "list", "update", "watch"),
	permission.To("", "services", "create", "delete", "get", "list", "update", "watch"),
	permission.To("", "serviceaccounts", "create", "update"),
	permission.To("", "pods", "get", "list"),
	permission.To("", "pods/log", "get"),
	permission.To("", "pods/proxy", "create", "get"),
	permission.To("", "pods/portforward", "create"),
	permission.To("", "events", "create", "patch"),
	permission.To("apps", "deployments", "create", "get", "update"),
	permission.To("batch", "jobs", "create", "update"),
	permission.To("discovery.k8s.io", "endpointslices", "create", "delete", "list", "update", "watch"),
	permission.To("networking.k8s.io", "ingresses", "create", "delete", "get", "list", "update", "watch"),
	permission.To("networking.k8s.io", "ingresses/status", "update"),
	permission.To("networking.k8s.io", "ingressclasses", "create", "delete", "list", "update", "watch"),
	permission.To("coordination.k8s.io", "leases", "create", "get", "update"),
	permission.To("rbac.authorization.k8s.io", "roles", "create", "update"),
	permission.To("rbac.authorization.k8s.io", "rolebindings", "create", "update"),
	permission.To("rbac.authorization.k8s.io", "clusterroles", "create", "delete", "list", "update"),
	permission.To("rbac.authorization.k8s.io", "clusterrolebindings", "create", "delete", "list", "update"),
)

// helpful are the permissions that a run can do without: to check quotas, limits and nodes beforehand.
var helpful = slices.Concat(
	permission.To("", "resourcequotas", "list"),
	permission.To("", "limitranges", "list"),
	permission.To("", "nodes", "list"),
)

// several are the permissions that only a run with several namespaces requires: to write those of the
// scenario, and to let the controller watch them.
var several = permission.To("", "namespaces", "update", "watch")

func (d *Driver) requirePermissions(ctx context.Context) error {
	return permission.Require(ctx, d.client, permissions, "deploy/cluster")
}
