package kubeapi

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// apply is server-side apply: a PATCH with the fields that the client owns.
func (s *Server) apply(w http.ResponseWriter, r *request, patch []byte, opts writeOptions) error {
	o, created, err := s.state.apply(&r.operation, opts, func(old runtime.Object) (runtime.Object, error) {
		return r.applied(w, r.account(), old, patch, opts)
	})
	if err != nil {
		return err
	}
	return respond(w, r, statusOfWrite(created), o)
}

// applied returns what the patch makes of old, whose account is a.
func (r *request) applied(w http.ResponseWriter, a account, old runtime.Object, patch []byte, opts writeOptions) (runtime.Object, error) {
	obj, err := a.applied(old, patch, opts.manager, opts.force, judge(w, r))
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(patch, &map[string]any{}); err != nil && !laxly(r) {
		if r.query.Get("fieldValidation") == metav1.FieldValidationStrict {
			return nil, errors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
		}
		warn(w, err)
	}
	return obj, nil
}
