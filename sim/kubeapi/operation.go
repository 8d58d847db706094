package kubeapi

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
)

// operation is one operation on a resource: what it is about, and who asks for it.
type operation struct {
	res             *resource
	objects         *collection
	namespace, name string // empty: all
	subresource     string
	caller          caller         // nil: the operation comes from this process, and no webhook is asked
	ruled           *resource      // whose rules count instead of those of res; usually nil
	written         runtime.Object // what the operation stored, decoded
}

// writeOptions are the options of a create, an update or a patch.
type writeOptions struct {
	dryRun  bool
	manager string // who owns the fields that the write sets
	force   bool   // an apply takes the fields that others own
}

// rules is the resource whose rules the object obeys: a version of a custom kind has its
// own, another view has those of the resource that it is stored as.
func (op *operation) rules() *resource {
	if op.ruled != nil {
		return op.ruled
	}
	if op.res.custom != nil {
		return op.res
	}
	return op.objects.res
}

// key is the key of the object.
func (op *operation) key() string { return keyOf(op.namespace, op.name) }

func (op *operation) notFound() error { return errors.NewNotFound(op.res.groupResource(), op.name) }

// account keeps the account of who owns which field.
func (op *operation) account() account { return account{op.res, op.subresource} }

// question is what webhooks are told about the operation.
func (op *operation) question() question {
	return question{caller: op.caller, res: op.res, subresource: op.subresource, name: op.name}
}

func nameMismatch(body, url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", body, url))
}

func errNoName(url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", url))
}
