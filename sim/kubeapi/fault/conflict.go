package fault

import (
	stderrors "errors"

	"k8s.io/apimachinery/pkg/api/errors"
)

// Conflict answers updates as if another writer had always been first.
func Conflict() Fault {
	return refusal("conflict", func(c *Call) bool { return c.Verb == "update" || c.Verb == "patch" }, func(c *Call) error {
		return errors.NewConflict(c.GroupResource(), c.Name,
			stderrors.New("the object has been modified; please apply your changes to the latest version and try again"))
	})
}
