package kubeapi

import (
	"fmt"
	"io"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/patch"
)

// apply answers a server-side apply: a PATCH with the fields that the client owns.
func (s *Server) apply(w http.ResponseWriter, r *request, patch []byte, opts cluster.WriteOptions) error {
	o, created, err := s.state.Apply(&r.Operation, opts, func(old runtime.Object) (runtime.Object, error) {
		return r.applyPatch(w, r.Ownership(), old, patch, opts)
	})
	if err != nil {
		return err
	}
	return respond(w, r, statusOfWrite(created), o)
}

// applyPatch returns the result of applying the patch to old. a tracks the field owners of old.
func (r *request) applyPatch(w http.ResponseWriter, a ownership.Tracker, old runtime.Object, patch []byte, opts cluster.WriteOptions) (runtime.Object, error) {
	obj, err := a.Apply(old, patch, opts.Manager, opts.Force, fieldProblemHandler(w, r))
	if err != nil {
		return nil, err
	}
	if err := yaml.UnmarshalStrict(patch, &map[string]any{}); err != nil && !ignoresFieldProblems(r) {
		if r.query.Get("fieldValidation") == metav1.FieldValidationStrict {
			return nil, errors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
		}
		warn(w, err)
	}
	return obj, nil
}

func (s *Server) create(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	o, err := s.state.CreateOwned(&r.Operation, obj, opts)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}

func (s *Server) delete(w http.ResponseWriter, r *request) error {
	opts, err := readDeleteOptions(r)
	if err != nil {
		return err
	}
	base, held, err := s.state.Delete(&r.Operation, opts)
	switch {
	case err != nil:
		return err
	case held && opts.OrphanDependents != nil && !*opts.OrphanDependents:
		return respond(w, r, http.StatusAccepted, base)
	case held || r.Resource.ReturnsDeleted:
		return respond(w, r, http.StatusOK, base)
	}
	return respondDeleted(w, r, base)
}

// deleteCollection deletes the selected objects, or one page of them, and answers with their last
// states.
func (s *Server) deleteCollection(w http.ResponseWriter, r *request) error {
	query, sel, err := readQuery(r)
	if err != nil {
		return err
	}
	which, err := parseListOptions(query)
	if err != nil {
		return err
	}
	opts, err := readDeleteOptions(r)
	if err != nil {
		return err
	}
	if err := s.await(r.Context(), which.rv); err != nil {
		return err
	}
	objects, rv, err := readObjects(r.Objects, which)
	if err != nil {
		return err
	}
	selected, m := paginate(sel.Filter(objects), rv, which, sel)
	for _, o := range selected {
		one := *opts
		if one.Preconditions == nil {
			one.Preconditions = &metav1.Preconditions{UID: &o.UID}
		}
		_, _, err := s.state.DeleteKey(&r.Operation, o.Key, &one)
		if errors.IsConflict(err) && opts.Preconditions == nil {
			continue // another object has this name now
		}
		if err != nil {
			return err
		}
	}
	return respondList(w, r, selected, m)
}

// readDeleteOptions reads the options from the body if there is one, else from the query. Clients
// send a body as protobuf or JSON, with or without a kind.
func readDeleteOptions(r *request) (*metav1.DeleteOptions, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, fmt.Errorf("reading the request's body: %w", err)
	}
	opts := &metav1.DeleteOptions{}
	if len(body) == 0 {
		err = decodeOptions(r.query, opts)
	} else {
		err = decodeDeleteOptions(r, body, opts)
	}
	if err != nil {
		return nil, err
	}
	r.deleteOptions = opts
	return opts, invalidOptions("DeleteOptions", metav1validation.ValidateDeleteOptions(opts))
}

func decodeDeleteOptions(r *request, body []byte, opts *metav1.DeleteOptions) error {
	mediaType, err := contentType(r)
	if err != nil {
		return err
	}
	var kind string
	switch mediaType {
	case codec.ProtobufType:
		t, message, err := codec.OpenEnvelope(body)
		if err != nil {
			return err
		}
		kind, err = t.Kind, opts.Unmarshal(message)
		if err != nil {
			return badOptions(err.Error())
		}
	case "application/json", codec.YAMLType:
		if err := yaml.Unmarshal(body, opts); err != nil {
			return badOptions(err.Error())
		}
		kind = opts.Kind
	default:
		return codec.ErrUnsupportedMediaType("application/json", codec.YAMLType, codec.ProtobufType)
	}
	if kind != "" && kind != "DeleteOptions" {
		return badOptions("its kind is " + kind)
	}
	return nil
}

func badOptions(problem string) error {
	return errors.NewBadRequest("the body is not a DeleteOptions: " + problem)
}

func (s *Server) patch(w http.ResponseWriter, r *request) error {
	mediaType, body, opts, err := readPatch(r)
	if err != nil {
		return err
	}
	if types.PatchType(mediaType) == types.ApplyYAMLPatchType {
		return s.apply(w, r, body, opts)
	}
	p, err := patch.Parse(types.PatchType(mediaType), body)
	if err != nil && r.Objects.Get(r.Key()) == nil {
		return r.NotFound() // before the patch is checked, because kube-apiserver reads the patch after the object
	}
	if err != nil {
		return err
	}
	o, err := s.state.Patch(&r.Operation, opts, func(current runtime.Object) (runtime.Object, error) {
		return p.Apply(r.Resource, current, ignoresFieldProblems(r), fieldProblemHandler(w, r))
	})
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, o)
}

// fieldProblemHandler returns a function that turns problems with the fields of a patch into an error
// or warnings. A patch may be tried more than once, so the function first removes the warnings of the
// last attempt.
func fieldProblemHandler(w http.ResponseWriter, r *request) func(problems []error) error {
	return func(problems []error) error {
		w.Header().Del("Warning")
		return warnOrRefuse(w, r, problems)
	}
}

func readPatch(r *request) (mediaType string, body []byte, opts cluster.WriteOptions, err error) {
	if mediaType, err = contentType(r); err != nil {
		return
	}
	switch types.PatchType(mediaType) {
	case types.StrategicMergePatchType:
		if r.Resource.Custom != nil {
			err = codec.ErrUnsupportedMediaType(string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType))
			return
		}
	case types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType:
	default:
		err = codec.ErrUnsupportedPatch()
		return
	}
	if body, err = r.readBody(); err != nil {
		return
	}
	opts, err = r.patchOptions(types.PatchType(mediaType))
	return
}

func (s *Server) update(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	opts, err := r.updateOptions()
	if err != nil {
		return err
	}
	again := func() (runtime.Object, error) { return readObject(discard{}, r) }
	o, created, err := s.state.Update(&r.Operation, obj, again, opts)
	if err != nil {
		return err
	}
	return respond(w, r, statusOfWrite(created), o)
}

// statusOfWrite returns the status code of the answer to a write.
func statusOfWrite(created bool) int {
	if created {
		return http.StatusCreated
	}
	return http.StatusOK
}
