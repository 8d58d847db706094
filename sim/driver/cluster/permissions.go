package cluster

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// permission is something that the run's user must be allowed to do.
type permission struct {
	group, resource string // resource may have a subresource: pods/proxy
	verbs           []string
}

// permissions are everything that a run must do. deploy/cluster has a role with it, and with helpful.
// The user must also have what it gives to the controller.
var permissions = []permission{
	{"", "namespaces", []string{"create", "delete", "get", "list"}},
	{"", "configmaps", []string{"create", "delete", "list", "update", "watch"}},
	{"", "secrets", []string{"create", "delete", "list", "update", "watch"}},
	{"", "services", []string{"create", "delete", "get", "list", "update", "watch"}},
	{"", "serviceaccounts", []string{"create", "update"}},
	{"", "pods", []string{"get", "list"}},
	{"", "pods/log", []string{"get"}},
	{"", "pods/proxy", []string{"create", "get"}},
	{"", "pods/portforward", []string{"create"}},
	{"", "events", []string{"create", "patch"}},
	{"apps", "deployments", []string{"create", "get", "update"}},
	{"batch", "jobs", []string{"create", "update"}},
	{"discovery.k8s.io", "endpointslices", []string{"create", "delete", "list", "update", "watch"}},
	{"networking.k8s.io", "ingresses", []string{"create", "delete", "get", "list", "update", "watch"}},
	{"networking.k8s.io", "ingresses/status", []string{"update"}},
	{"networking.k8s.io", "ingressclasses", []string{"create", "delete", "list", "update", "watch"}},
	{"coordination.k8s.io", "leases", []string{"create", "get", "update"}},
	{"rbac.authorization.k8s.io", "roles", []string{"create", "update"}},
	{"rbac.authorization.k8s.io", "rolebindings", []string{"create", "update"}},
	{"rbac.authorization.k8s.io", "clusterroles", []string{"create", "delete", "list", "update"}},
	{"rbac.authorization.k8s.io", "clusterrolebindings", []string{"create", "delete", "list", "update"}},
}

// helpful are the permissions that a run can do without: to check quotas and nodes beforehand.
var helpful = []permission{
	{"", "resourcequotas", []string{"list"}},
	{"", "nodes", []string{"list"}},
}

// checkPermissions asks the API for each permission. The error lists all that are missing.
func (d *Driver) checkPermissions(ctx context.Context) error {
	var mu sync.Mutex
	var missing []string
	var questions errgroup.Group
	questions.SetLimit(8)
	for _, p := range permissions {
		for _, verb := range p.verbs {
			questions.Go(func() error {
				allowed, err := d.mayDo(ctx, p, verb)
				mu.Lock()
				defer mu.Unlock()
				if !allowed && err == nil {
					missing = append(missing, p.describe(verb))
				}
				return err
			})
		}
	}
	if err := questions.Wait(); err != nil {
		return fmt.Errorf("ask the API server at %s for the user's permissions: %w", d.API.Host, err)
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return fmt.Errorf("the user of the kubeconfig lacks permissions (deploy/cluster has a role with all of them): %s", strings.Join(missing, ", "))
	}
	return nil
}

// mayDo asks the API whether the user may do something, in all namespaces.
func (d *Driver) mayDo(ctx context.Context, p permission, verb string) (bool, error) {
	resource, sub, _ := strings.Cut(p.resource, "/")
	review, err := d.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: p.group, Resource: resource, Subresource: sub,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}

// describe names the permission as roles do: create ingresses.networking.k8s.io.
func (p permission) describe(verb string) string {
	text := verb + " " + p.resource
	if p.group != "" {
		text += "." + p.group
	}
	return text
}
