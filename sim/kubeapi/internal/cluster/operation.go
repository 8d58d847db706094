package cluster

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/admission"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Operation is one operation on a resource: its target, and its caller.
type Operation struct {
	Resource        *resource.Resource
	Objects         *store.Collection
	Namespace, Name string // empty: all
	Subresource     string
	Caller          admission.Caller   // nil: the operation comes from this process, and no webhooks are called
	rulesOverride   *resource.Resource // if set, its rules apply instead of those of Resource
	Written         runtime.Object     // the object that the operation stored, decoded
	dryRun          bool               // the operation claims nothing
	held            []func()           // each ends one claim of the operation
}

// release ends the claims of the operation. Those of a Service that is stored stay valid.
func (op *Operation) release() {
	for _, end := range op.held {
		end()
	}
	op.held = nil
}

// WriteOptions are the options of a create, an update or a patch.
type WriteOptions struct {
	DryRun  bool
	Manager string // owner of the fields that the write sets
	Force   bool   // an apply takes over fields that others own
}

// rules returns the resource whose rules apply to the object. A version of a custom kind has its
// own rules; any other view uses the rules of the resource that it is stored as.
func (op *Operation) rules() *resource.Resource {
	if op.rulesOverride != nil {
		return op.rulesOverride
	}
	if op.Resource.Custom != nil {
		return op.Resource
	}
	return op.Objects.Resource
}

// Key returns the key of the object.
func (op *Operation) Key() string { return object.Key(op.Namespace, op.Name) }

// NotFound returns the 404 error for the object.
func (op *Operation) NotFound() error {
	return errors.NewNotFound(op.Resource.GroupResource(), op.Name)
}

// Ownership returns the tracker of the field owners.
func (op *Operation) Ownership() ownership.Tracker {
	return ownership.Tracker{Resource: op.Resource, Subresource: op.Subresource}
}

// admissionRequest returns the description of the operation that webhooks get.
func (op *Operation) admissionRequest() admission.Request {
	return admission.Request{Caller: op.Caller, Resource: op.Resource, Subresource: op.Subresource, Name: op.Name}
}

func nameMismatch(body, url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", body, url))
}

func errNoName(url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", url))
}

// ErrMethod returns the 405 error for a method that the resource does not support.
func ErrMethod() error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    405,
		Reason:  metav1.StatusReasonMethodNotAllowed,
		Message: "the server does not allow this method on the requested resource",
		Details: &metav1.StatusDetails{},
	}}
}
