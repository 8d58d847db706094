package main

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/fault"
)

// permission is one thing that a role allows.
type permission struct {
	verb, resource  string // resource as in fault.Request: ingresses.networking.k8s.io/status
	namespace, name string // empty: any
}

// authorizer allows what roles do, and remembers what was asked for.
type authorizer struct {
	mu      sync.Mutex
	granted map[permission]bool // to whether it was needed
	refused map[fault.Request]bool
}

// newAuthorizer has the rules of all roles among the objects. Whom they are
// bound to is for another test.
func newAuthorizer(objects []runtime.Object) *authorizer {
	a := &authorizer{granted: make(map[permission]bool), refused: make(map[fault.Request]bool)}
	for _, object := range objects {
		switch role := object.(type) {
		case *rbacv1.ClusterRole:
			a.grant("", role.Rules)
		case *rbacv1.Role:
			a.grant(role.Namespace, role.Rules)
		}
	}
	return a
}

func (a *authorizer) grant(namespace string, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						a.granted[permission{verb, inGroup(resource, group), namespace, name}] = false
					}
				}
			}
		}
	}
}

// inGroup is a rule's resource as requests have it.
func inGroup(resource, group string) string {
	name, subresource, found := strings.Cut(resource, "/")
	if group != "" {
		name += "." + group
	}
	if found {
		name += "/" + subresource
	}
	return name
}

// fault refuses what no role allows.
func (a *authorizer) fault() fault.Fault {
	return fault.Fault{Name: "authorizer", Serve: func(c *fault.Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		if !a.allows(c.Request) {
			return apierrors.NewForbidden(c.GroupResource(), c.Name, errors.New("no role allows to "+c.Verb))
		}
		serve(w)
		return nil
	}}
}

func (a *authorizer) allows(r fault.Request) bool {
	if r.Resource == "" { // discovery, which is open to all
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Verb == "watchlist" {
		// The authorizer of Kubernetes sees a watch. Where a server has no
		// streaming lists, an informer lists first.
		list := r
		r.Verb, list.Verb = "watch", "list"
		return a.has(r) && a.has(list)
	}
	return a.has(r)
}

// has needs a.mu.
func (a *authorizer) has(r fault.Request) bool {
	allowed := false
	for _, namespace := range []string{"", r.Namespace} {
		for _, name := range []string{"", r.Name} {
			p := permission{r.Verb, r.Resource, namespace, name}
			if _, granted := a.granted[p]; granted {
				a.granted[p], allowed = true, true
			}
		}
	}
	if !allowed {
		a.refused[fault.Request{Verb: r.Verb, Resource: r.Resource, Namespace: r.Namespace, Name: r.Name}] = true
	}
	return allowed
}

// verdict is what no role allowed although it was asked for, and what a role
// allows although it was not.
func (a *authorizer) verdict() (refused []fault.Request, needless []permission) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p, needed := range a.granted {
		if !needed {
			needless = append(needless, p)
		}
	}
	slices.SortFunc(needless, func(p, q permission) int {
		return cmp.Or(cmp.Compare(p.resource, q.resource), cmp.Compare(p.verb, q.verb))
	})
	return slices.Collect(maps.Keys(a.refused)), needless
}
