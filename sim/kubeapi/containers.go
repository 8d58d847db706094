package kubeapi

import (
	"fmt"
	"net/http"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
)

// containerVerbs are the subresources of a pod that a kubelet answers from its containers.
var containerVerbs = []string{"attach", "exec", "log", "portforward"}

func (r *request) wantsContainer() bool {
	return r.res.group == "" && r.res.name == "pods" && slices.Contains(containerVerbs, r.subresource)
}

// noContainers answers what needs a container (kubectl logs, exec, attach, cp, port-forward).
func (s *Server) noContainers(_ http.ResponseWriter, r *request) error {
	if r.objects.get(r.key()) == nil {
		return r.notFound()
	}
	return errors.NewBadRequest(fmt.Sprintf("pod %s is simulated and has no containers, so there is no %s", r.name, r.subresource))
}
