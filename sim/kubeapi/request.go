package kubeapi

import (
	"bytes"
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
	body           *bytes.Buffer         // nil until it is read
	server         *Server
	code           int // of the answer; 0 until it is known, and for answers with 200
}

// resolve finds the resource that the path names. It refuses unknown ones as kube-apiserver does:
// with text for an unknown group and for an unknown resource of a custom group, else with a Status.
func (s *Server) resolve(r *request) error {
	p, _ := resource.ParsePath(r.URL.Path)
	r.Resource = s.state.Served().Find(p.GroupVersion, p.Resource)
	if r.Resource == nil && !s.hasBuiltInGroup(r.URL.Path) {
		return errUnknownPath
	}
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

// hasBuiltInGroup reports whether a path names a group that has a resource, in any version, that
// does not come from a definition.
func (s *Server) hasBuiltInGroup(urlPath string) bool {
	root, rest, below := strings.Cut(strings.Trim(urlPath, "/"), "/")
	group, _, named := strings.Cut(rest, "/")
	switch {
	case root == "api":
		return below
	case root == "apis" && named && group != "":
		return s.state.Served().HasBuiltIn(group)
	}
	return false
}

func errUnknownResource(p resource.Path) error {
	err := errors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{Group: p.GroupVersion.Group, Resource: p.Resource}, "", "", 0, true)
	err.ErrStatus.Message = "the server could not find the requested resource"
	err.ErrStatus.Details = &metav1.StatusDetails{}
	return err
}
