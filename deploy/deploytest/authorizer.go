// Package deploytest checks that a command needs exactly the permissions of the roles in its
// manifests. It stands between the simulated API server and a command under test. Its one rule: it
// allows what the roles allow, and reports the permissions that the command did not need.
package deploytest

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

// Permission is a single permission of a role.
type Permission struct {
	Verb, Resource  string // resource as in fault.Request: ingresses.networking.k8s.io/status
	Namespace, Name string // empty: any
}

// Authorizer allows what the roles allow, and records which requests it received.
type Authorizer struct {
	mu      sync.Mutex
	granted map[Permission]bool // whether a request needed it
	refused map[fault.Request]bool
}

// NewAuthorizer returns an Authorizer with the rules of all roles among the objects. It ignores the
// role bindings, which another test checks.
func NewAuthorizer(objects []runtime.Object) *Authorizer {
	a := &Authorizer{granted: make(map[Permission]bool), refused: make(map[fault.Request]bool)}
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

func (a *Authorizer) grant(namespace string, rules []rbacv1.PolicyRule) {
	for _, rule := range rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					for _, name := range names {
						a.granted[Permission{verb, inGroup(resource, group), namespace, name}] = false
					}
				}
			}
		}
	}
}

// inGroup returns a rule's resource in the form of fault.Request.
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

// Fault returns the fault that refuses requests that no role allows.
func (a *Authorizer) Fault() fault.Fault {
	return fault.Fault{Name: "authorizer", Serve: func(c *fault.Call, w http.ResponseWriter, serve func(http.ResponseWriter)) error {
		if !a.allows(c.Request) {
			return apierrors.NewForbidden(c.GroupResource(), c.Name, errors.New("no role allows to "+c.Verb))
		}
		serve(w)
		return nil
	}}
}

func (a *Authorizer) allows(r fault.Request) bool {
	if r.Resource == "" { // discovery, which is open to all
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if r.Resource == "namespaces" {
		// Kubernetes treats a request for a namespace object as a request within that namespace, so
		// a Role may allow it (k8s.io/apiserver/pkg/endpoints/request, NewRequestInfo).
		r.Namespace = r.Name
	}
	if r.Verb == "watchlist" {
		// Kubernetes authorizes this request as a watch. With servers that lack streaming lists, an
		// informer also lists first.
		list := r
		r.Verb, list.Verb = "watch", "list"
		return a.has(r) && a.has(list)
	}
	return a.has(r)
}

// has reports whether a role allows a request. The caller must hold a.mu.
func (a *Authorizer) has(r fault.Request) bool {
	allowed := false
	for _, namespace := range []string{"", r.Namespace} {
		for _, name := range []string{"", r.Name} {
			p := Permission{r.Verb, r.Resource, namespace, name}
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

// Verdict returns the requests that no role allowed, and the permissions that no request needed.
func (a *Authorizer) Verdict() (refused []fault.Request, needless []Permission) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p, needed := range a.granted {
		if !needed {
			needless = append(needless, p)
		}
	}
	slices.SortFunc(needless, func(p, q Permission) int {
		return cmp.Or(cmp.Compare(p.Resource, q.Resource), cmp.Compare(p.Verb, q.Verb))
	})
	return slices.Collect(maps.Keys(a.refused)), needless
}
