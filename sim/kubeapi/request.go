package kubeapi

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// request is one request about one resource: what the URL names, and how to answer.
type request struct {
	*http.Request
	operation
	query         url.Values
	codec         codec
	form          form
	warnings      *warningHeader
	deleteOptions *metav1.DeleteOptions // of a deletion, once they were read
	body          []byte                // once it was read
	server        *Server
}

// resolve finds the resource that the path names. Unknown ones are answered as
// kube-apiserver does: text for a group that it does not know and for what a custom
// group does not have, else a Status.
func (s *Server) resolve(r *request) error {
	p, ok := parsePath(r.URL.Path)
	if !s.knowsGroup(r.URL.Path) {
		return errUnknownPath
	}
	if group := groupOf(r.URL.Path); s.state.served().isCustom(group) && s.state.served().find(p.gv, p.resource) == nil {
		return errUnknownPath
	}
	if !ok || !s.state.served().knows(p.gv) {
		return errUnknownResource(p)
	}
	r.res = s.state.served().find(p.gv, p.resource)
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
	r.objects = s.state.collection(r.res)
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
	return groupOf(urlPath) != "" && s.state.served().knowsGroup(groupOf(urlPath))
}

// groupOf is the group of a path below /apis/<group>/, empty for any other.
func groupOf(urlPath string) string {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	if len(parts) >= 3 && parts[0] == "apis" {
		return parts[1]
	}
	return ""
}

func errUnknownResource(p path) error {
	err := errors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{Group: p.gv.Group, Resource: p.resource}, "", "", 0, true)
	err.ErrStatus.Message = "the server could not find the requested resource"
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}
