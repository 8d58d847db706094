package kubeapi

import (
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// request is one HTTP request for a resource, with the representation of its answer.
type request struct {
	*http.Request
	cluster.Operation
	query          url.Values
	codec          codec.Codec
	representation codec.Representation
	warnings       *warningHeader
	deleteOptions  *metav1.DeleteOptions // options of a deletion; nil until they are read
	body           []byte                // nil until it is read
	server         *Server
	code           int // of the answer; 0 until it is known, and for answers with 200
}

// resolve finds the resource that the path names. It refuses unknown ones as kube-apiserver does:
// with text for an unknown group and for an unknown resource of a custom group, else with a Status.
func (s *Server) resolve(r *request) error {
	p, ok := resource.ParsePath(r.URL.Path)
	if !s.knowsGroup(r.URL.Path) {
		return errUnknownPath
	}
	if group := groupOf(r.URL.Path); s.state.Served().IsCustom(group) && s.state.Served().Find(p.GroupVersion, p.Resource) == nil {
		return errUnknownPath
	}
	if !ok || !s.state.Served().Knows(p.GroupVersion) {
		return errUnknownResource(p)
	}
	r.Resource = s.state.Served().Find(p.GroupVersion, p.Resource)
	if r.Resource == nil || (p.Namespace != "" && r.Resource.ClusterScoped) {
		return errUnknownResource(p)
	}
	r.Subresource = p.Subresource
	if !r.Resource.Has(p.Subresource) && !r.wantsContainer() {
		if r.Resource.Custom != nil {
			return errors.NewNotFound(r.Resource.GroupResource(), p.Name)
		}
		return errUnknownResource(p)
	}
	r.Objects = s.state.Collection(r.Resource)
	if r.Objects == nil {
		return errUnknownResource(p)
	}
	r.Namespace, r.Name = p.Namespace, p.Name
	if r.Name != "" && r.Namespace == "" && !r.Resource.ClusterScoped {
		return errUnknownResource(p)
	}
	return nil
}

// knowsGroup reports whether the group of a path is served, in any version.
func (s *Server) knowsGroup(urlPath string) bool {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	if len(parts) >= 2 && parts[0] == "api" {
		return true
	}
	return groupOf(urlPath) != "" && s.state.Served().KnowsGroup(groupOf(urlPath))
}

// groupOf returns the group of a path below /apis/<group>/, or an empty string for other paths.
func groupOf(urlPath string) string {
	parts := strings.Split(strings.Trim(urlPath, "/"), "/")
	if len(parts) >= 3 && parts[0] == "apis" {
		return parts[1]
	}
	return ""
}

func errUnknownResource(p resource.Path) error {
	err := errors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{Group: p.GroupVersion.Group, Resource: p.Resource}, "", "", 0, true)
	err.ErrStatus.Message = "the server could not find the requested resource"
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}
