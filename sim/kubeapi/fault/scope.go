package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is a request as a fault sees it.
type Request struct {
	Verb       string // as in RBAC, and "watchlist" for a watch that begins with a streaming list
	Resource   string // services, ingresses.networking.k8s.io/status; empty for discovery and the like
	Namespace  string `json:",omitempty"`
	Name       string `json:",omitempty"`
	Path       string
	UserAgent  string
	Connection uint64 // counted from 1 as the server accepted them
	Asked      string `json:",omitempty"` // resourceVersion in the query
}

// Watches reports whether the request is any kind of watch.
func (r *Request) Watches() bool { return r.Verb == "watch" || r.Verb == "watchlist" }

// Writes reports whether the request would change something.
func (r *Request) Writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// GroupResource returns the resource without its subresource.
func (r *Request) GroupResource() schema.GroupResource {
	return schema.ParseGroupResource(bare(r.Resource))
}

// bare returns the name of a resource without a subresource.
func bare(resource string) string {
	name, _, _ := strings.Cut(resource, "/")
	return name
}

// Scope limits what a fault hits. Zero fields do not limit it.
type Scope struct {
	Resources  []string `json:",omitempty"` // services, ingresses.networking.k8s.io or ingresses, ingresses/status
	Verbs      []string `json:",omitempty"` // those of Request.Verb
	Namespace  string   `json:",omitempty"`
	Name       string   `json:",omitempty"`
	UserAgent  string   `json:",omitempty"` // prefix of the user agent
	Spare      string   `json:",omitempty"` // requests with this prefix of the user agent are spared
	Connection uint64   `json:",omitempty"` // number of the connection

	After time.Duration `json:",omitempty"` // begins this long after it was injected
	For   time.Duration `json:",omitempty"` // heals by itself after this long
	Skip  int           `json:",omitempty"` // lets the first requests pass
	Count int           `json:",omitempty"` // maximum number of hits
}

var verbs = []string{"get", "list", "watch", "watchlist", "create", "update", "patch", "delete", "deletecollection"}

// Check returns an error if the scope has an unknown verb or a negative time or count.
func (s *Scope) Check() error {
	for _, verb := range s.Verbs {
		if !slices.Contains(verbs, verb) {
			return fmt.Errorf("fault: no verb %q; there are %s", verb, strings.Join(verbs, ", "))
		}
	}
	if s.After < 0 || s.For < 0 || s.Skip < 0 || s.Count < 0 {
		return fmt.Errorf("fault: a time or count in the scope is negative: %+v", *s)
	}
	return nil
}

// Covers reports whether the scope includes a request, apart from its times and counts.
func (s *Scope) Covers(r *Request) bool {
	return s.CoversResource(r.Resource) &&
		(len(s.Verbs) == 0 || slices.Contains(s.Verbs, r.Verb)) &&
		(s.Namespace == "" || s.Namespace == r.Namespace) &&
		(s.Name == "" || s.Name == r.Name) &&
		strings.HasPrefix(r.UserAgent, s.UserAgent) &&
		(s.Spare == "" || !strings.HasPrefix(r.UserAgent, s.Spare)) &&
		(s.Connection == 0 || s.Connection == r.Connection)
}

// CoversResource reports whether the scope's resources include this one, by its full name or
// without its group. A subresource is a resource of its own.
func (s *Scope) CoversResource(resource string) bool {
	if len(s.Resources) == 0 {
		return true
	}
	name, subresource, _ := strings.Cut(resource, "/")
	short, _, _ := strings.Cut(name, ".")
	if subresource != "" {
		short += "/" + subresource
	}
	return slices.Contains(s.Resources, resource) || slices.Contains(s.Resources, short)
}
