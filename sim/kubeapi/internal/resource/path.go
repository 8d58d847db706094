package resource

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Path is the parsed path of a URL.
type Path struct {
	GroupVersion                           schema.GroupVersion
	Namespace, Resource, Name, Subresource string
}

// ParsePath parses /api/v1/… and /apis/<group>/<version>/…, with at least a resource. It returns
// false for any other path.
func ParsePath(urlPath string) (Path, bool) {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	var p Path
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		p.GroupVersion, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		p.GroupVersion, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return p, false
	}
	// A namespace's own subresources look like resources in it; only these two exist.
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		p.Namespace, parts = parts[1], parts[2:]
	}
	p.Resource = parts[0]
	if len(parts) > 1 {
		p.Name = parts[1]
	}
	if len(parts) > 2 {
		p.Subresource = strings.Join(parts[2:], "/")
	}
	return p, true
}
