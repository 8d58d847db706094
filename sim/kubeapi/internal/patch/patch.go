// Package patch applies JSON patches, merge patches and strategic merge patches. It stands
// between the body of a PATCH and the next state of an object. Its one rule: no patch keeps the
// libraries busy for longer than its bounds allow.
package patch

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/api/errors"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/rescue"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// badRequest returns a 400 error with this message.
func badRequest(message string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusBadRequest, Reason: metav1.StatusReasonBadRequest, Message: message}}
}

// Patch is a parsed patch. It has either text or merge.
type Patch struct {
	// text computes the new state of an object as JSON.
	text     func(original []byte) ([]byte, error)
	readings int // maximum number of times that text reads the original
	// merge is the content of a strategic merge patch. Applying it requires the object's kind.
	merge    map[string]any
	problems []error // duplicate fields in the patch
}

// Apply returns the result of applying the patch to current, an object of res. current keeps its
// version, so that a patch can test it; a patch that sets another version fails as a conflict.
// judge decides whether problems with fields are an error. With lax, Apply does not look for
// unknown fields.
func (p *Patch) Apply(res *resource.Resource, current runtime.Object, lax bool, judge func(problems []error) error) (runtime.Object, error) {
	current.GetObjectKind().SetGroupVersionKind(res.GVK())
	obj, shown, problems, err := p.apply(res, current, lax)
	if _, refused := err.(errors.APIStatus); refused {
		return nil, err
	}
	if err == nil {
		err = judge(append(p.problems, problems...))
	}
	if err != nil {
		return nil, errors.NewInvalid(schema.GroupKind{}, "",
			field.ErrorList{field.Invalid(field.NewPath("patch"), shown, err.Error())})
	}
	return obj, nil
}

// apply also returns the value that kube-apiserver shows if the result is not an object of res: the
// result, or for a strategic merge patch the patch.
func (p *Patch) apply(res *resource.Resource, current runtime.Object, lax bool) (obj runtime.Object, shown string, problems []error, err error) {
	if p.merge != nil {
		obj, problems, err = p.mergeInto(res, current)
		return obj, fmt.Sprintf("%+v", p.merge), problems, err
	}
	original, err := json.Marshal(current)
	if err != nil {
		return nil, "", nil, err
	}
	if len(original)*p.readings > maxRead {
		return nil, "", nil, errTooLarge("the patch has %d operations or levels, too many for an object of %d bytes; send it in parts", p.readings, len(original))
	}
	result, err := p.text(original)
	if err != nil {
		return nil, "", nil, err
	}
	obj, problems, err = codec.DecodeJSON(res, result, lax)
	return obj, string(result), problems, err
}

func (p *Patch) mergeInto(res *resource.Resource, current runtime.Object) (runtime.Object, []error, error) {
	original, err := runtime.DefaultUnstructuredConverter.ToUnstructured(current)
	if err != nil {
		return nil, nil, err
	}
	next := res.Empty()
	refusal := badRequest("the strategic merge patch has a directive or a list that does not fit the object's fields")
	merged, err := rescue.Call(refusal, func() (map[string]any, error) {
		merged, err := strategicpatch.StrategicMergeMapPatch(original, runtime.DeepCopyJSON(p.merge), next)
		return merged, badPatch(err)
	})
	if err != nil {
		return nil, nil, err
	}
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(merged, next, true)
	strict, isStrict := runtime.AsStrictDecodingError(err)
	if err != nil && !isStrict {
		return nil, nil, err
	}
	kind := next.GetObjectKind().GroupVersionKind()
	if err := codec.CheckKind(res, kind.GroupVersion().String(), kind.Kind); err != nil {
		return nil, nil, err
	}
	if isStrict {
		return object.WithoutKind(next), strict.Errors(), nil
	}
	return object.WithoutKind(next), nil, nil
}

// Parse parses a patch that is not a server-side apply.
func Parse(kind types.PatchType, body []byte) (*Patch, error) {
	if kind == types.JSONPatchType {
		return parseJSONPatch(body)
	}
	levels, nested := codec.Nesting(body)
	if nested > maxNested {
		return nil, errTooLarge("the patch nests its %d bytes %d levels deep; send it in parts", len(body), levels)
	}
	var fields map[string]any
	problems, err := kjson.UnmarshalStrict(body, &fields)
	switch {
	case err != nil && kind == types.StrategicMergePatchType:
		return nil, badPatch(err)
	case err != nil:
		return nil, errors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	case kind == types.StrategicMergePatchType && countElements(fields) > maxPatchElements:
		return nil, errTooLarge("the lists of a strategic merge patch may have %d elements, not %d; send it in parts, or as a JSON or merge patch", maxPatchElements, countElements(fields))
	case kind == types.StrategicMergePatchType && fields != nil:
		return &Patch{merge: fields, problems: problems}, nil
	}
	refusal := badRequest("the merge patch cannot be applied to the object")
	return &Patch{problems: problems, readings: levels, text: func(original []byte) ([]byte, error) {
		return rescue.Call(refusal, func() ([]byte, error) {
			result, err := jsonpatch.MergePatch(original, body)
			return result, badPatch(err)
		})
	}}, nil
}

// jsonPatchOp is an operation of a JSON patch.
type jsonPatchOp struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	From  string `json:"from"`
	Value any    `json:"value"`
}

func parseJSONPatch(body []byte) (*Patch, error) {
	var fields []jsonPatchOp
	problems, err := kjson.UnmarshalStrict(body, &fields)
	if err != nil {
		text := strings.ReplaceAll(err.Error(), "patch.jsonPatchOp", "handlers.jsonPatchOp") // the type's name in kube-apiserver
		return nil, errors.NewBadRequest("error decoding patch: " + text)
	}
	for i, problem := range problems {
		problems[i] = fmt.Errorf("json patch %w", problem)
	}
	operations, err := jsonpatch.DecodePatch(body)
	if err != nil {
		return nil, badPatch(err)
	}
	if len(operations) > maxPatchOperations {
		return nil, errTooLarge("The allowed maximum operations in a JSON patch is %d, got %d", maxPatchOperations, len(operations))
	}
	return &Patch{problems: problems, readings: countReads(fields), text: func(original []byte) ([]byte, error) {
		return rescue.Call(errUnprocessable(), func() ([]byte, error) {
			result, err := operations.Apply(original)
			if err != nil {
				return nil, errUnprocessable()
			}
			return result, nil
		})
	}}, nil
}

func badPatch(err error) error {
	if err == nil {
		return nil
	}
	return errors.NewBadRequest(err.Error())
}

// errUnprocessable returns the 422 error for a JSON patch that does not fit the object.
func errUnprocessable() *errors.StatusError {
	return &errors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnprocessableEntity,
		Reason:  metav1.StatusReasonInvalid,
		Message: "the server rejected our request due to an error in our request",
		Details: &metav1.StatusDetails{},
	}}
}
