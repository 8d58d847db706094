package kubeapi

import (
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// postVerb returns the handler of a subresource to which clients post.
func (s *Server) postVerb(r *request) func(http.ResponseWriter, *request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	switch r.Resource.Posted(r.Subresource) {
	case kinds.Bindings:
		return s.bind
	case kinds.Evictions:
		return s.evict
	case kinds.TokenRequests:
		return s.issueToken
	}
	return nil
}

func (s *Server) bind(w http.ResponseWriter, r *request) error {
	obj, err := readAs(w, r, kinds.Bindings)
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	if err := s.state.Bind(&r.Operation, obj.(*corev1.Binding).Target.Name, opts.DryRun); err != nil {
		return err
	}
	return respondSuccess(w, r)
}

// respondSuccess answers a post whose object is not stored.
func respondSuccess(w http.ResponseWriter, r *request) error {
	body, err := r.codec.Value(&metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
	if err != nil {
		return err
	}
	r.code = http.StatusCreated
	write(w, r.Request, r.codec.MediaType(), http.StatusCreated, body)
	return nil
}

// evict deletes a pod, unless its PodDisruptionBudget forbids that.
func (s *Server) evict(w http.ResponseWriter, r *request) error {
	obj, err := readAs(w, r, kinds.Evictions)
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	if err := s.state.Evict(&r.Operation, obj.(*policyv1.Eviction), opts.DryRun); err != nil {
		return err
	}
	return respondSuccess(w, r)
}

// containerVerbs lists the subresources of a pod that a kubelet answers from the pod's containers.
var containerVerbs = []string{"attach", "exec", "log", "portforward"}

func (r *request) wantsContainer() bool {
	return r.Resource.Group == "" && r.Resource.Name == "pods" && slices.Contains(containerVerbs, r.Subresource)
}

// noContainers refuses requests that need a container (kubectl logs, exec, attach, cp,
// port-forward).
func (s *Server) noContainers(_ http.ResponseWriter, r *request) error {
	if r.Objects.Get(r.Key()) == nil {
		return r.NotFound()
	}
	return errors.NewBadRequest(fmt.Sprintf("pod %s is simulated and has no containers, so there is no %s", r.Name, r.Subresource))
}

func (s *Server) reviewVerb(r *request) func(http.ResponseWriter, *request) error {
	if r.Method != http.MethodPost || r.Name != "" {
		return nil
	}
	return s.review
}

func (s *Server) review(w http.ResponseWriter, r *request) error {
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	if obj, err = r.Ownership().Create(obj, opts.Manager); err != nil {
		return err
	}
	if err := cluster.SetNamespace(object.Meta(obj), &r.Operation); err != nil {
		return err
	}
	if err := r.Resource.Review(obj, resource.Asker{User: r.User(), Namespace: r.Namespace, Authenticate: s.reviewToken}); err != nil {
		return err
	}
	o, err := store.Encode(r.Resource, obj, 0)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}
