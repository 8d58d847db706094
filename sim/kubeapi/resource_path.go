package kubeapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// path is what a URL path names.
type path struct {
	gv                                     schema.GroupVersion
	namespace, resource, name, subresource string
}

// parsePath reads /api/v1/… and /apis/<group>/<version>/…, with at least a
// resource. It is false for any other path.
func parsePath(urlPath string) (path, bool) {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	var p path
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		p.gv, parts = schema.GroupVersion{Version: parts[1]}, parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		p.gv, parts = schema.GroupVersion{Group: parts[1], Version: parts[2]}, parts[3:]
	default:
		return p, false
	}
	// A namespace's own subresources look like resources in it; only these two exist.
	if parts[0] == "namespaces" && len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
		p.namespace, parts = parts[1], parts[2:]
	}
	p.resource = parts[0]
	if len(parts) > 1 {
		p.name = parts[1]
	}
	if len(parts) > 2 {
		p.subresource = strings.Join(parts[2:], "/")
	}
	return p, true
}
