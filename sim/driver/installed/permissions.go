package installed

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

// permissions returns everything that a run with these options must do. deploy/cases has roles for it,
// and for helpful.
func (o Options) permissions() []permission {
	all := []permission{
		{"", "namespaces", []string{"create", "delete", "get", "list", "update"}},
		{"", "services", []string{"create", "delete", "update"}},
		{"", "secrets", []string{"create", "delete", "update"}},
		{"", "configmaps", []string{"create", "delete", "get", "update"}},
		{"discovery.k8s.io", "endpointslices", []string{"create", "delete", "update"}},
		{"networking.k8s.io", "ingresses", []string{"create", "delete", "list", "update"}},
		{"networking.k8s.io", "ingressclasses", []string{"list"}},
		{"coordination.k8s.io", "leases", []string{"create", "get", "update"}},
	}
	if !o.LocalPods {
		all = append(all,
			permission{"apps", "deployments", []string{"create", "get"}},
			permission{"", "pods", []string{"list"}},
			permission{"", "pods/proxy", []string{"create"}},
		)
	}
	if o.CatchAll {
		all = append(all, permission{"networking.k8s.io", "ingressclasses", []string{"create", "delete", "get", "update"}})
	}
	return all
}

// helpful are the permissions that a run can do without: to find the number of replicas and the address
// of the controller.
var helpful = []permission{
	{"apps", "deployments", []string{"list"}},
	{"apps", "daemonsets", []string{"list"}},
	{"", "services", []string{"list"}},
}

// checkPermissions asks the API for each permission. The error lists all that are missing.
func (d *Driver) checkPermissions(ctx context.Context) error {
	var mu sync.Mutex
	var missing []string
	var questions errgroup.Group
	questions.SetLimit(8)
	for _, p := range d.permissions() {
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
		return fmt.Errorf("the user of the kubeconfig lacks permissions (deploy/cases has a role with all of them): %s", strings.Join(missing, ", "))
	}
	return nil
}

// mayDo asks the API whether the user may do something.
func (d *Driver) mayDo(ctx context.Context, p permission, verb string) (bool, error) {
	resource, sub, _ := strings.Cut(p.resource, "/")
	review, err := d.client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Verb: verb, Group: p.group, Resource: resource, Subresource: sub, // in all namespaces
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
