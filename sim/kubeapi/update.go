package kubeapi

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"maps"
	"net/http"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

// updateAttempts bounds how often an update is tried again when another writer
// was first.
const updateAttempts = 100

var errModified = stderrors.New("the object has been modified; please apply your changes to the latest version and try again")

func (s *Server) update(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	dryRun, err := r.dryRun(nil)
	if err != nil {
		return err
	}
	o, err := s.modify(r, dryRun, func(runtime.Object) (runtime.Object, error) { return obj.DeepCopyObject(), nil })
	if errors.IsNotFound(err) && r.res.upsert && r.subresource == "" && metadataOf(obj).UID == "" {
		return s.upsert(w, r, obj, dryRun)
	}
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, o)
}

// upsert creates what a PUT did not find, for the kinds that allow it.
func (s *Server) upsert(w http.ResponseWriter, r *request, obj runtime.Object, dryRun bool) error {
	if metadataOf(obj).Name != r.name {
		return nameMismatch(metadataOf(obj).Name, r.name)
	}
	if rv := metadataOf(obj).ResourceVersion; rv != "" && rv != "0" {
		return r.notFound()
	}
	metadataOf(obj).ResourceVersion = ""
	o, err := s.insert(r, obj, dryRun)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}

// modify replaces the object that r names by what change makes of it, and again if
// another writer was first: then a state that insists on a version is a conflict.
func (s *Server) modify(r *request, dryRun bool, change func(old runtime.Object) (runtime.Object, error)) (*object, error) {
	for attempt := 1; ; attempt++ {
		base := r.objects.get(r.key())
		if base == nil {
			return nil, r.notFound()
		}
		old, err := base.decode()
		if err != nil {
			return nil, err
		}
		next, err := change(old)
		if err != nil {
			return nil, err
		}
		o, err := s.replace(r, base, old, next, dryRun)
		if err != errMoved {
			return o, err
		}
		if attempt == updateAttempts {
			return nil, errors.NewConflict(r.res.groupResource(), r.name, errModified)
		}
	}
}

// replace stores next, made from old, the decoded base. A state that is no
// different is not stored; one without finalizers of an object that waited for
// them ends it.
func (s *Server) replace(r *request, base *object, old, next runtime.Object, dryRun bool) (*object, error) {
	if err := checkIdentity(r, base, metadataOf(next)); err != nil {
		return nil, err
	}
	if r.subresource == "status" {
		next = withStatus(old, next)
	} else if r.subresource == "finalize" {
		next = withFinalizers(old, next)
	} else if err := s.prepareUpdate(r.objects.res, old, next); err != nil {
		return nil, err
	}
	metadataOf(next).ResourceVersion = formatRV(base.rv)
	if err := invalid(r.res, r.name, validateUpdate(r.objects.res, old, next)); err != nil {
		return nil, err
	}
	candidate, err := r.objects.res.seal(next, base.rv)
	if err != nil {
		return nil, err
	}
	if bytes.Equal(candidate.raw, base.raw) {
		return base, nil
	}
	if dryRun {
		return candidate, nil
	}
	if base.deleting && s.mayGo(base, next) {
		return s.remove(r.objects, base, next)
	}
	return r.objects.commit(watch.Modified, base, next)
}

// checkIdentity checks that next is a state of the object that the URL names, and of its version.
func checkIdentity(r *request, base *object, next *metav1.ObjectMeta) error {
	switch {
	case next.Name != r.name:
		return nameMismatch(next.Name, r.name)
	case next.Namespace != "" && next.Namespace != r.namespace:
		return errors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case next.UID != "" && next.UID != base.uid:
		return errors.NewConflict(r.res.groupResource(), r.name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", next.UID, base.uid))
	case next.ResourceVersion == "" && r.res.needsRV:
		return invalid(r.res, r.name, field.ErrorList{field.Invalid(field.NewPath("metadata", "resourceVersion"), "", "must be specified for an update")})
	case next.ResourceVersion != "" && next.ResourceVersion != "0" && next.ResourceVersion != formatRV(base.rv):
		return errors.NewConflict(r.res.groupResource(), r.name, errModified)
	}
	return nil
}

func nameMismatch(body, url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", body, url))
}

// prepareUpdate restores what an update may not change, and counts the generation.
func (s *Server) prepareUpdate(res *resource, old, next runtime.Object) error {
	was, is := metadataOf(old), metadataOf(next)
	keepIdentity(is, was)
	if res.status {
		setStatus(next, old)
	}
	if res.defaults != nil {
		res.defaults(next, old, s)
	}
	if !res.generation {
		return nil
	}
	before, err := specOf(old)
	if err != nil {
		return err
	}
	after, err := specOf(next)
	if err != nil {
		return err
	}
	if !bytes.Equal(before, after) || (res.generationLabels && !maps.Equal(was.Labels, is.Labels)) {
		is.Generation++
	}
	return nil
}

func keepIdentity(is, was *metav1.ObjectMeta) {
	is.Namespace, is.UID = was.Namespace, was.UID
	is.CreationTimestamp, is.DeletionTimestamp = was.CreationTimestamp, was.DeletionTimestamp
	is.DeletionGracePeriodSeconds, is.Generation = was.DeletionGracePeriodSeconds, was.Generation
	is.SelfLink, is.ManagedFields = "", nil
}

// withStatus returns old with next's status, and with the metadata that a write
// of a status may change.
func withStatus(old, next runtime.Object) runtime.Object {
	merged := old.DeepCopyObject()
	setStatus(merged, next)
	is, from := metadataOf(merged), metadataOf(next)
	is.ResourceVersion, is.Labels, is.Annotations, is.Finalizers = from.ResourceVersion, from.Labels, from.Annotations, from.Finalizers
	return merged
}

func validateUpdate(res *resource, old, next runtime.Object) field.ErrorList {
	path := field.NewPath("metadata")
	problems := validation.ValidateObjectMeta(metadataOf(next), !res.clusterScoped, res.nameRule(), path)
	problems = append(problems, validation.ValidateObjectMetaUpdate(metadataOf(next), metadataOf(old), path)...)
	if res.validate != nil {
		problems = append(problems, res.validate(next, old)...)
	}
	return problems
}
