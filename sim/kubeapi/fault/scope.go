package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scope says where a fault hits. Zero fields do not narrow it.
type Scope struct {
	Resources  []string `json:",omitempty"` // services, ingresses.networking.k8s.io or ingresses, ingresses/status
	Verbs      []string `json:",omitempty"` // those of Request.Verb
	Namespace  string   `json:",omitempty"`
	Name       string   `json:",omitempty"`
	UserAgent  string   `json:",omitempty"` // how it begins
	Spare      string   `json:",omitempty"` // whose user agent begins so is spared
	Connection uint64   `json:",omitempty"` // its number

	After time.Duration `json:",omitempty"` // begins this long after it was injected
	For   time.Duration `json:",omitempty"` // heals by itself after this long
	Skip  int           `json:",omitempty"` // lets the first so many pass
	Count int           `json:",omitempty"` // hits at most so many
}

var verbs = []string{"get", "list", "watch", "watchlist", "create", "update", "patch", "delete", "deletecollection"}

// Check returns what is wrong with a scope.
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

// Covers says whether a request is one that the fault may hit, times and counts aside.
func (s *Scope) Covers(r *Request) bool {
	return s.CoversResource(r.Resource) &&
		(len(s.Verbs) == 0 || slices.Contains(s.Verbs, r.Verb)) &&
		(s.Namespace == "" || s.Namespace == r.Namespace) &&
		(s.Name == "" || s.Name == r.Name) &&
		strings.HasPrefix(r.UserAgent, s.UserAgent) &&
		(s.Spare == "" || !strings.HasPrefix(r.UserAgent, s.Spare)) &&
		(s.Connection == 0 || s.Connection == r.Connection)
}

// CoversResource says whether the scope's resources have this one, by its full
// name or without its group. A subresource is a resource of its own.
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
