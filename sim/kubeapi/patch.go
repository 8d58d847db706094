package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"
)

// maxPatchOperations bounds a JSON patch, as kube-apiserver does; so does the
// limit on what its copies may add up to.
const maxPatchOperations = 10000

func init() { jsonpatch.AccumulatedCopySizeLimit = 10 * maxBody }

// patcher is one patch that waits for an object.
type patcher struct {
	// apply makes a new state of an object of kind as JSON.
	apply    func(original []byte, kind runtime.Object) ([]byte, error)
	problems []error // fields that are twice in the patch
}

func (s *Server) patch(w http.ResponseWriter, r *request) error {
	mediaType, body, opts, err := readPatch(r)
	if err != nil {
		return err
	}
	if types.PatchType(mediaType) == types.ApplyYAMLPatchType {
		return s.apply(w, r, body, opts)
	}
	p, err := parsePatch(types.PatchType(mediaType), body)
	if err != nil && r.objects.get(r.key()) == nil {
		return r.notFound() // whatever the patch: it is read when there is what it is for
	}
	if err != nil {
		return err
	}
	o, err := s.modify(r, opts.dryRun, (*object).decode, func(base *object, old runtime.Object) (runtime.Object, error) {
		next, err := p.patched(w, r, r.res, r.res.shown(old.DeepCopyObject()))
		if err != nil {
			return nil, err
		}
		next = r.res.stored(next)
		s.complete(r.rules(), next, old)
		return r.own(base, old, next, opts.manager)
	})
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, o)
}

// patched returns what the patch makes of current, an object of res. The version
// in it is current's, so that a patch can test it; one that sets another fails as a
// conflict.
func (p *patcher) patched(w http.ResponseWriter, r *request, res *resource, current runtime.Object) (runtime.Object, error) {
	current.GetObjectKind().SetGroupVersionKind(res.gvk())
	original, err := json.Marshal(current)
	if err != nil {
		return nil, err
	}
	result, err := p.apply(original, res.empty())
	if err != nil {
		return nil, err
	}
	w.Header().Del("Warning") // of an attempt before
	obj, problems, err := decodeJSON(res, result, laxly(r))
	if err == nil {
		err = warnOrRefuse(w, r, append(p.problems, problems...))
	}
	if err != nil {
		return nil, errors.NewInvalid(schema.GroupKind{}, "",
			field.ErrorList{field.Invalid(field.NewPath("patch"), string(result), err.Error())})
	}
	return obj, nil
}

func readPatch(r *request) (mediaType string, body []byte, opts writeOptions, err error) {
	if mediaType, err = contentType(r, ""); err != nil {
		return
	}
	switch types.PatchType(mediaType) {
	case types.StrategicMergePatchType:
		if r.res.custom != nil {
			err = unsupportedMediaType(mediaType, string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType))
			return
		}
	case types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType:
	default:
		err = unsupportedMediaType(mediaType, patchTypes...)
		return
	}
	if body, err = r.readBody(); err != nil {
		return
	}
	opts, err = r.patchOptions(types.PatchType(mediaType))
	return
}

var patchTypes = []string{string(types.JSONPatchType), string(types.MergePatchType),
	string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType)}

func parsePatch(kind types.PatchType, body []byte) (*patcher, error) {
	if kind == types.JSONPatchType {
		return parseJSONPatch(body)
	}
	var fields map[string]any
	problems, err := kjson.UnmarshalStrict(body, &fields)
	if err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	p := &patcher{problems: problems}
	p.apply = func(original []byte, kind runtime.Object) ([]byte, error) {
		result, err := jsonpatch.MergePatch(original, body)
		return result, badPatch(err)
	}
	if kind == types.StrategicMergePatchType {
		p.apply = func(original []byte, kind runtime.Object) ([]byte, error) {
			result, err := strategicpatch.StrategicMergePatch(original, body, kind)
			return result, badPatch(err)
		}
	}
	return p, nil
}

func parseJSONPatch(body []byte) (*patcher, error) {
	var fields []struct {
		Op    string `json:"op"`
		Path  string `json:"path"`
		From  string `json:"from"`
		Value any    `json:"value"`
	}
	problems, err := kjson.UnmarshalStrict(body, &fields)
	if err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	for i, problem := range problems {
		problems[i] = fmt.Errorf("json patch %w", problem)
	}
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, badPatch(err)
	}
	if len(operations) > maxPatchOperations {
		return nil, errors.NewRequestEntityTooLargeError(fmt.Sprintf(
			"The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(operations)))
	}
	apply := func(original []byte, _ runtime.Object) ([]byte, error) {
		result, err := operations.Apply(original)
		if err != nil {
			return nil, errUnprocessable(err)
		}
		return result, nil
	}
	return &patcher{apply, problems}, nil
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
