package fault

import (
	stderrors "errors"

	"k8s.io/apimachinery/pkg/api/errors"
)

// Unauthorized answers 401, as to an expired token. Open watches go on, as a
// real server does not look again.
func Unauthorized() Fault {
	return refusal("unauthorized", nil, func(*Call) error { return errors.NewUnauthorized("Unauthorized") })
}

// Forbidden answers 403, as when a role binding is gone.
func Forbidden() Fault {
	return refusal("forbidden", nil, func(c *Call) error {
		return errors.NewForbidden(c.GroupResource(), c.Name, stderrors.New("injected: not allowed to "+c.Verb))
	})
}
