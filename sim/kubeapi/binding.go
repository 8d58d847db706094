package kubeapi

import (
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

var bindings = &resource{version: "v1", name: "bindings", kind: "Binding"}

func (s *Server) bindingVerb(r *request) func(http.ResponseWriter, *request) error {
	if r.Method != http.MethodPost {
		return nil
	}
	return s.bind
}

// bind gives a pod to a node, once: a scheduler's write.
func (s *Server) bind(w http.ResponseWriter, r *request) error {
	pods := r.res
	r.res = bindings
	obj, err := readObject(w, r)
	r.res = pods
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	r.ruled = boundPods
	r.subresource = "" // what follows is a change of the pod itself
	_, err = s.modify(r, opts.dryRun, (*object).decode, func(_ *object, old runtime.Object) (runtime.Object, error) {
		return bound(r, old.(*corev1.Pod), obj.(*corev1.Binding).Target.Name)
	})
	if err != nil {
		return err
	}
	body, err := r.codec.value(&metav1.Status{TypeMeta: metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}, Status: metav1.StatusSuccess, Code: http.StatusCreated})
	if err != nil {
		return err
	}
	write(w, r.Request, r.codec.mediaType(), http.StatusCreated, body)
	return nil
}

// boundPods has the rules of pods, but that their node may change.
var boundPods = func() *resource {
	pods := *findResource(corev1.SchemeGroupVersion, "pods")
	pods.validate = nil
	return &pods
}()

func bound(r *request, old *corev1.Pod, node string) (runtime.Object, error) {
	conflict := func(format string, args ...any) error {
		return errors.NewConflict(r.res.groupResource(), r.name, fmt.Errorf(format, args...))
	}
	switch {
	case node == "":
		return nil, errors.NewBadRequest("the binding names no target")
	case old.DeletionTimestamp != nil:
		return nil, conflict("pod %s is being deleted, cannot be assigned to a host", r.name)
	case old.Spec.NodeName != "":
		return nil, conflict("pod %s is already assigned to node %q", r.name, old.Spec.NodeName)
	}
	pod := old.DeepCopy()
	pod.Spec.NodeName = node
	return pod, nil
}
