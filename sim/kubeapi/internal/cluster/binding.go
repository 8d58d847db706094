package cluster

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Bind assigns the pod that op names to a node. A pod can be bound only once.
func (s *State) Bind(op *Operation, node string, dryRun bool) error {
	op.rulesOverride = boundPods
	op.Subresource = "" // the rest of the operation changes the pod itself
	_, err := s.modify(op, dryRun, (*store.Object).Decode, func(_ *store.Object, old runtime.Object) (runtime.Object, error) {
		return bindPod(op, old.(*corev1.Pod), node)
	})
	return err
}

// boundPods is the pods resource with the same rules, except that the node of a pod may change.
var boundPods = func() *resource.Resource {
	pods := *kinds.Find(corev1.SchemeGroupVersion, "pods")
	pods.Validate = nil
	return &pods
}()

func bindPod(op *Operation, old *corev1.Pod, node string) (runtime.Object, error) {
	conflict := func(format string, args ...any) error {
		return errors.NewConflict(op.Resource.GroupResource(), op.Name, fmt.Errorf(format, args...))
	}
	switch {
	case node == "":
		return nil, errors.NewBadRequest("the binding names no target")
	case old.DeletionTimestamp != nil:
		return nil, conflict("pod %s is being deleted, cannot be assigned to a host", op.Name)
	case old.Spec.NodeName != "":
		return nil, conflict("pod %s is already assigned to node %q", op.Name, old.Spec.NodeName)
	}
	pod := old.DeepCopy()
	pod.Spec.NodeName = node
	return pod, nil
}
