package kubeapi

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// bindings are what a scheduler posts. They are in no table: nothing is stored as one.
var bindings = &resource{version: "v1", name: "bindings", kind: "Binding"}

// bind gives the pod that op names to a node, once.
func (s *clusterState) bind(op *operation, node string, dryRun bool) error {
	op.ruled = boundPods
	op.subresource = "" // what follows is a change of the pod itself
	_, err := s.modify(op, dryRun, (*object).decode, func(_ *object, old runtime.Object) (runtime.Object, error) {
		return bound(op, old.(*corev1.Pod), node)
	})
	return err
}

// boundPods has the rules of pods, but that their node may change.
var boundPods = func() *resource {
	pods := *findResource(corev1.SchemeGroupVersion, "pods")
	pods.validate = nil
	return &pods
}()

func bound(op *operation, old *corev1.Pod, node string) (runtime.Object, error) {
	conflict := func(format string, args ...any) error {
		return errors.NewConflict(op.res.groupResource(), op.name, fmt.Errorf(format, args...))
	}
	switch {
	case node == "":
		return nil, errors.NewBadRequest("the binding names no target")
	case old.DeletionTimestamp != nil:
		return nil, conflict("pod %s is being deleted, cannot be assigned to a host", op.name)
	case old.Spec.NodeName != "":
		return nil, conflict("pod %s is already assigned to node %q", op.name, old.Spec.NodeName)
	}
	pod := old.DeepCopy()
	pod.Spec.NodeName = node
	return pod, nil
}
