package kubeapi

import (
	"net/http"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

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
		return r.notFound() // whatever the patch: kube-apiserver reads it once it has the object
	}
	if err != nil {
		return err
	}
	o, err := s.state.patch(&r.operation, opts, func(current runtime.Object) (runtime.Object, error) {
		return p.patched(r.res, current, laxly(r), judge(w, r))
	})
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, o)
}

// judge returns what decides about the problems of a patch's fields. A patch may be tried more
// than once, so it first removes the warnings of the attempt before.
func judge(w http.ResponseWriter, r *request) func(problems []error) error {
	return func(problems []error) error {
		w.Header().Del("Warning")
		return warnOrRefuse(w, r, problems)
	}
}

func readPatch(r *request) (mediaType string, body []byte, opts writeOptions, err error) {
	if mediaType, err = contentType(r); err != nil {
		return
	}
	switch types.PatchType(mediaType) {
	case types.StrategicMergePatchType:
		if r.res.custom != nil {
			err = unsupportedMediaType(string(types.JSONPatchType), string(types.MergePatchType), string(types.ApplyYAMLPatchType))
			return
		}
	case types.JSONPatchType, types.MergePatchType, types.ApplyYAMLPatchType:
	default:
		err = unsupportedPatch()
		return
	}
	if body, err = r.readBody(); err != nil {
		return
	}
	opts, err = r.patchOptions(types.PatchType(mediaType))
	return
}
