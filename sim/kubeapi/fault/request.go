package fault

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is what can be known of a request.
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

// Watches says whether the request is any kind of watch.
func (r *Request) Watches() bool { return r.Verb == "watch" || r.Verb == "watchlist" }

// Writes says whether the request would change something.
func (r *Request) Writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return true
	}
	return false
}

// GroupResource is the resource without its subresource.
func (r *Request) GroupResource() schema.GroupResource {
	return schema.ParseGroupResource(bare(r.Resource))
}

// bare is a resource's name without a subresource.
func bare(resource string) string {
	name, _, _ := strings.Cut(resource, "/")
	return name
}
