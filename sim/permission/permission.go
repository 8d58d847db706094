// Package permission asks a Kubernetes API server what its user may do.
package permission

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Permission is something that a user may do, or may not.
type Permission struct {
	Verb      string
	Group     string // "" is the core group
	Resource  string // may have a subresource: pods/proxy
	Namespace string // "" means in all namespaces
}

// To returns the permissions for these verbs on a resource, in all namespaces.
func To(group, resource string, verbs ...string) []Permission {
	all := make([]Permission, len(verbs))
	for i, verb := range verbs {
		all[i] = Permission{Verb: verb, Group: group, Resource: resource}
	}
	return all
}

// String names the permission as roles do: create ingresses.networking.k8s.io.
func (p Permission) String() string {
	text := p.Verb + " " + p.Resource
	if p.Group != "" {
		text += "." + p.Group
	}
	return text
}

// Missing asks the API server for each permission, and returns those that the user does not have,
// sorted by their texts. It omits permissions about which the server does not answer; the error is
// that of one such request.
func Missing(ctx context.Context, client kubernetes.Interface, wanted []Permission) ([]Permission, error) {
	var mu sync.Mutex
	var missing []Permission
	var failed error
	var questions errgroup.Group
	questions.SetLimit(8)
	for _, p := range wanted {
		questions.Go(func() error {
			allowed, err := p.allowed(ctx, client)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failed = cmp.Or(failed, err)
			case !allowed:
				missing = append(missing, p)
			}
			return nil
		})
	}
	_ = questions.Wait() // no question returns an error
	slices.SortFunc(missing, func(a, b Permission) int { return strings.Compare(a.String(), b.String()) })
	return missing, failed
}

// Require returns an error that lists the missing permissions. Role says where to find a role that has all
// of them.
func Require(ctx context.Context, client kubernetes.Interface, wanted []Permission, role string) error {
	missing, err := Missing(ctx, client, wanted)
	switch {
	case err != nil:
		return fmt.Errorf("ask the API server for the user's permissions: %w", err)
	case len(missing) == 0:
		return nil
	}
	texts := make([]string, len(missing))
	for i, p := range missing {
		texts[i] = p.String()
	}
	return fmt.Errorf("the user of the kubeconfig lacks permissions (%s has a role with all of them): %s", role, strings.Join(texts, ", "))
}

func (p Permission) allowed(ctx context.Context, client kubernetes.Interface) (bool, error) {
	resource, sub, _ := strings.Cut(p.Resource, "/")
	review, err := client.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: p.Namespace, Verb: p.Verb, Group: p.Group, Resource: resource, Subresource: sub,
		}},
	}, metav1.CreateOptions{})
	if err != nil {
		return false, err
	}
	return review.Status.Allowed, nil
}
