package kubeapi

import (
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// apply is server-side apply: it changes the object that r names, or makes it.
func (s *Server) apply(w http.ResponseWriter, r *request, patch []byte, opts writeOptions) error {
	merge := func(_ *object, old runtime.Object) (runtime.Object, error) {
		return r.applied(w, old, patch, opts)
	}
	for {
		o, err := s.modify(r, opts.dryRun, (*object).decode, merge)
		code := http.StatusOK
		if errors.IsNotFound(err) && r.subresource == "" {
			code = http.StatusCreated
			o, err = s.applyNew(r, opts, merge)
			if errors.IsAlreadyExists(err) {
				continue // another writer was first: apply to its object
			}
		}
		if err != nil {
			return err
		}
		return respond(w, r, code, o)
	}
}

// applyNew makes an object of nothing but what is applied.
func (s *Server) applyNew(r *request, opts writeOptions, merge change) (*object, error) {
	obj, err := merge(nil, r.objects.res.empty())
	if err != nil {
		return nil, err
	}
	m := metadataOf(obj)
	switch {
	case m.UID != "":
		return nil, errors.NewConflict(r.res.groupResource(), r.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", m.UID))
	case m.Name == "":
		return nil, errNoName(r.name)
	case m.Name != r.name:
		return nil, nameMismatch(m.Name, r.name)
	}
	m.ResourceVersion = ""
	return s.insert(r, obj, opts.dryRun)
}

// applied returns what the patch makes of old.
func (r *request) applied(w http.ResponseWriter, old runtime.Object, patch []byte, opts writeOptions) (runtime.Object, error) {
	m, err := r.res.fieldManager(r.subresource)
	if err != nil {
		return nil, err
	}
	intent := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(patch, &intent.Object); err != nil {
		return nil, errors.NewBadRequest(fmt.Sprintf("error decoding YAML: %v", err))
	}
	if levels := depth(intent.Object); levels > maxDepth {
		return nil, errors.NewBadRequest(errTooDeep(levels).Error())
	}
	live, err := r.res.toFields(old.DeepCopyObject())
	if err != nil {
		return nil, err
	}
	merged, err := m.Apply(live, intent, opts.manager, opts.force)
	if err != nil {
		return nil, err
	}
	obj, problems, err := r.res.fromFields(merged)
	if err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	w.Header().Del("Warning") // of an attempt before
	if err := warnOrRefuse(w, r, problems); err != nil {
		return nil, errors.NewBadRequest(err.Error())
	}
	if err := yaml.UnmarshalStrict(patch, &map[string]any{}); err != nil && !laxly(r) {
		if r.query.Get("fieldValidation") == metav1.FieldValidationStrict {
			return nil, errors.NewBadRequest(fmt.Sprintf("error strict decoding patch: %v", err))
		}
		warn(w, err)
	}
	return obj, nil
}
