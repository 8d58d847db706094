package kubeapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// maxPatchOperations bounds a JSON patch, as kube-apiserver does; so does the
// limit on what its copies may add up to.
const maxPatchOperations = 10000

func init() { jsonpatch.AccumulatedCopySizeLimit = 10 * maxBody }

// patcher applies one patch to an object of kind as JSON.
type patcher func(original []byte, kind runtime.Object) ([]byte, error)

func (s *Server) patch(w http.ResponseWriter, r *request) error {
	apply, err := readPatch(r)
	if err != nil {
		return err
	}
	dryRun, err := r.dryRun(nil)
	if err != nil {
		return err
	}
	o, err := s.modify(r, dryRun, (*object).decode, func(old runtime.Object) (runtime.Object, error) {
		return patched(w, r, apply, old)
	})
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, o)
}

// patched returns what the patch makes of old. The version in it is old's, so
// that a patch can test it; one that sets another fails as a conflict.
func patched(w http.ResponseWriter, r *request, apply patcher, old runtime.Object) (runtime.Object, error) {
	current := r.res.shown(old.DeepCopyObject())
	current.GetObjectKind().SetGroupVersionKind(r.res.gvk())
	original, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	result, err := apply(original, r.res.empty())
	if err != nil {
		return nil, err
	}
	w.Header().Del("Warning") // of an attempt before
	next, err := decodeJSON(w, r, result)
	if err != nil {
		return nil, err
	}
	return r.res.stored(next), nil
}

func readPatch(r *request) (patcher, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	mediaType, err := contentType(r, "")
	if err != nil {
		return nil, err
	}
	switch types.PatchType(mediaType) {
	case types.JSONPatchType:
		return readJSONPatch(body)
	case types.MergePatchType:
		return func(original []byte, _ runtime.Object) ([]byte, error) {
			result, err := jsonpatch.MergePatch(original, body)
			return result, badPatch(err)
		}, nil
	case types.StrategicMergePatchType:
		if r.res.custom != nil {
			return nil, unsupportedMediaType(mediaType, string(types.JSONPatchType), string(types.MergePatchType))
		}
		return func(original []byte, kind runtime.Object) ([]byte, error) {
			result, err := strategicpatch.StrategicMergePatch(original, body, kind)
			return result, badPatch(err)
		}, nil
	case types.ApplyYAMLPatchType:
		err := unsupportedMediaType(mediaType, patchTypes...).(*errors.StatusError)
		err.ErrStatus.Message = "the simulated API server does not do server-side apply; apply without --server-side"
		return nil, err
	}
	return nil, unsupportedMediaType(mediaType, patchTypes...)
}

var patchTypes = []string{string(types.JSONPatchType), string(types.MergePatchType), string(types.StrategicMergePatchType)}

func readJSONPatch(body []byte) (patcher, error) {
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, badPatch(err)
	}
	if len(operations) > maxPatchOperations {
		return nil, errors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(operations)))
	}
	return func(original []byte, _ runtime.Object) ([]byte, error) {
		result, err := operations.Apply(original)
		if err != nil {
			return nil, errUnprocessable(err)
		}
		return result, nil
	}, nil
}

func badPatch(err error) error {
	if err == nil {
		return nil
	}
	return errors.NewBadRequest(err.Error())
}

// errUnprocessable is the 422 of a JSON patch that does not fit the object.
func errUnprocessable(err error) error {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: "the server rejected our request due to an error in our request",
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Message: err.Error()}}},
	}}
}
