package kubeapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is one request about one resource: what the URL names, and how to answer.
type request struct {
	*http.Request
	res             *resource
	objects         *collection
	namespace, name string // empty: all
	subresource     string
	query           url.Values
	codec           codec
	form            form
	warnings        *warningHeader
	deleteOptions   *metav1.DeleteOptions // of a deletion, once they were read
	ruled           *resource             // whose rules count instead of those of res; usually nil
	body            []byte                // once it was read
	written         runtime.Object        // what the request stored, decoded
}

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

// resolve finds the resource that the path names. Unknown ones are answered as
// kube-apiserver does: text for a group that it does not know and for what a custom
// group does not have, else a Status.
func (s *Server) resolve(r *request) error {
	p, ok := parsePath(r.URL.Path)
	if !s.knowsGroup(r.URL.Path) {
		return errUnknownPath
	}
	if group := groupOf(r.URL.Path); s.table().isCustom(group) && s.table().find(p.gv, p.resource) == nil {
		return errUnknownPath
	}
	if !ok || !s.table().knows(p.gv) {
		return errUnknownResource(p)
	}
	r.res = s.table().find(p.gv, p.resource)
	if r.res == nil || (p.namespace != "" && r.res.clusterScoped) {
		return errUnknownResource(p)
	}
	r.subresource = p.subresource
	if !r.res.has(p.subresource) && !r.wantsContainer() {
		if r.res.custom != nil {
			return errors.NewNotFound(r.res.groupResource(), p.name)
		}
		return errUnknownResource(p)
	}
	r.objects = s.collection(r.res)
	if r.objects == nil {
		return errUnknownResource(p)
	}
	r.namespace, r.name = p.namespace, p.name
	if r.name != "" && r.namespace == "" && !r.res.clusterScoped {
		return errUnknownResource(p)
	}
	return nil
}

// knowsGroup says whether a path is in a group that is served, in whatever version of it.
func (s *Server) knowsGroup(urlPath string) bool {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	if len(parts) >= 2 && parts[0] == "api" {
		return true
	}
	return groupOf(urlPath) != "" && s.table().knowsGroup(groupOf(urlPath))
}

// groupOf is the group of a path below /apis/<group>/, empty for any other.
func groupOf(urlPath string) string {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	if len(parts) >= 3 && parts[0] == "apis" {
		return parts[1]
	}
	return ""
}

func (res *resource) has(subresource string) bool {
	return subresource == "" || (subresource == "status" && res.status) || slices.Contains(res.subresources, subresource) ||
		(subresource == scaleSubresource && (res.scale || res.custom.scales()))
}

// rules is the resource whose rules the request's object obeys: a version of a
// custom kind has its own, other views those of what they are stored as.
func (r *request) rules() *resource {
	if r.ruled != nil {
		return r.ruled
	}
	if r.res.custom != nil {
		return r.res
	}
	return r.objects.res
}

func errUnknownResource(p path) error {
	err := errors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{Group: p.gv.Group, Resource: p.resource}, "", "", 0, true)
	err.ErrStatus.Message = "the server could not find the requested resource"
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}

// key is that of the object that the URL names.
func (r *request) key() string { return keyOf(r.namespace, r.name) }

func (r *request) notFound() error { return errors.NewNotFound(r.res.groupResource(), r.name) }
