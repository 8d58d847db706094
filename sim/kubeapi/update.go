package kubeapi

import (
	stderrors "errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
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
	opts, err := r.updateOptions()
	if err != nil {
		return err
	}
	if metadataOf(obj).Name == "" {
		return errNoName(r.name)
	}
	used := false
	take := func() (runtime.Object, error) {
		if used { // what an attempt has written to is no longer what was sent
			if obj, err = readObject(discard{}, r); err != nil {
				return nil, err
			}
		}
		used = true
		return obj, nil
	}
	o, err := s.modify(r, opts.dryRun, (*object).skim, func(base *object, old runtime.Object) (runtime.Object, error) {
		next, err := take()
		if err != nil {
			return nil, err
		}
		s.complete(r.rules(), next, old)
		return r.own(base, old, next, opts.manager)
	})
	if errors.IsNotFound(err) && r.res.upsert && r.subresource == "" {
		if obj, err = take(); err != nil {
			return err
		}
		return s.upsert(w, r, obj, opts)
	}
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusOK, o)
}

// upsert creates what a PUT did not find, for the kinds that allow it.
func (s *Server) upsert(w http.ResponseWriter, r *request, obj runtime.Object, opts writeOptions) error {
	if metadataOf(obj).Name != r.name {
		return nameMismatch(metadataOf(obj).Name, r.name)
	}
	if uid := metadataOf(obj).UID; uid != "" {
		return errors.NewConflict(r.res.groupResource(), r.name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: ", uid))
	}
	metadataOf(obj).ResourceVersion = ""
	o, err := s.createOwned(r, obj, opts)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}

// change makes the next state of base, which was decoded as old.
type change func(base *object, old runtime.Object) (runtime.Object, error)

// modify replaces the object that r names by what change makes of what decode
// gives it, and again if another writer was first: then a state that insists on a
// version is a conflict.
func (s *Server) modify(r *request, dryRun bool, decode func(*object) (runtime.Object, error), change change) (*object, error) {
	for attempt := 1; ; attempt++ {
		base := r.objects.get(r.key())
		if base == nil {
			return nil, r.notFound()
		}
		old, err := decode(base)
		if err != nil {
			return nil, err
		}
		next, err := change(base, old)
		if err != nil {
			return nil, err
		}
		o, err := s.replace(r, base, old, next, dryRun)
		if !moved(err) {
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
	next, err := s.mutate(r, next, base, dryRun)
	if err != nil {
		return nil, err
	}
	t, err := s.revise(r, base, old, next)
	if err != nil {
		return nil, err
	}
	if err := s.admit(r, t.next, base, dryRun); err != nil {
		return nil, err
	}
	if dryRun || t.kind == "" {
		return t.sealed, nil
	}
	if base.deleting && s.mayGo(base, t.next) {
		_, err := s.remove(r.objects, base) // the last state is that before this write
		return t.sealed, err
	}
	o, err := r.objects.commitOne(t)
	if err == nil {
		r.written = t.next
	}
	if err == nil && base.deleting && r.objects == s.namespaces {
		err = s.sweep(base.name)
	}
	return o, err
}

// revise decides what an update makes of base.
func (s *Server) revise(r *request, base *object, old, next runtime.Object) (transition, error) {
	if err := checkIdentity(r, base, metadataOf(next)); err != nil {
		return transition{}, err
	}
	isStatus := r.subresource == "status"
	switch {
	case isStatus:
		next = withStatus(old, next)
	case r.subresource == "finalize":
		next = withFinalizers(old, next)
	default:
		s.restore(r.rules(), old, next)
	}
	metadataOf(next).ResourceVersion = formatRV(base.rv)
	if err := invalid(r.res, r.name, s.validateUpdate(r.rules(), old, next)); err != nil {
		return transition{}, err
	}
	return r.objects.prepareUpdate(r.rules(), base, old, next, !isStatus)
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
		kind := schema.GroupKind{Group: r.res.group, Kind: r.res.name} // the resource, as kube-apiserver words it
		return errors.NewInvalid(kind, r.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	case next.ResourceVersion != "" && next.ResourceVersion != "0" && next.ResourceVersion != formatRV(base.rv):
		return errors.NewConflict(r.res.groupResource(), r.name, errModified)
	}
	return nil
}

func nameMismatch(body, url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", body, url))
}

func errNoName(url string) error {
	return errors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", url))
}

// restore undoes what an update may not change, and fills in what it left out.
func (s *Server) restore(res *resource, old, next runtime.Object) {
	keepIdentity(metadataOf(next), metadataOf(old))
	if res.status {
		setStatus(next, old)
	}
	s.complete(res, next, old)
	if res.prepare != nil {
		res.prepare(next, old, s)
	}
}

func keepIdentity(is, was *metav1.ObjectMeta) {
	is.Namespace, is.UID = was.Namespace, was.UID
	is.CreationTimestamp, is.DeletionTimestamp = was.CreationTimestamp, was.DeletionTimestamp
	is.DeletionGracePeriodSeconds, is.Generation = was.DeletionGracePeriodSeconds, was.Generation
	is.SelfLink = ""
}

// withStatus returns old with next's status, and with the metadata that a write
// of a status may change.
func withStatus(old, next runtime.Object) runtime.Object {
	merged := bare(old.DeepCopyObject()) // the field manager has given old its kind
	setStatus(merged, next)
	is, from := metadataOf(merged), metadataOf(next)
	if _, custom := next.(*customObject); custom {
		is.ResourceVersion, is.ManagedFields = from.ResourceVersion, from.ManagedFields // and nothing else
		return merged
	}
	is.ResourceVersion, is.Labels, is.Annotations, is.Finalizers = from.ResourceVersion, from.Labels, from.Annotations, from.Finalizers
	is.ManagedFields = from.ManagedFields
	return merged
}

func (s *Server) validateUpdate(res *resource, old, next runtime.Object) (problems field.ErrorList) {
	if is, was := metadataOf(next), metadataOf(old); !sameMetadata(is, was) {
		problems = validateMetadataChange(res, is, was)
	}
	if res.validate != nil {
		problems = append(problems, res.validate(next, old, s)...)
	}
	return problems
}

// validateMetadataChange tells some problems more than once: kube-apiserver looks at the
// metadata of all kinds in the same way, and then each kind does so again, some
// of them as if the object were new.
func validateMetadataChange(res *resource, is, was *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	whole, change := validation.ValidateObjectMeta(is, !res.clusterScoped, res.nameRule(), path), validation.ValidateObjectMetaUpdate(is, was, path)
	problems := slices.Concat(whole, change)
	if res.validatedWhole {
		problems = slices.Concat(problems, whole, validateFinalizers(res, is))
	}
	return slices.Concat(problems, change, validateFinalizers(res, is))
}

// sameMetadata says whether nothing differs of what an update may set, so that
// all is as valid as it was. Validation takes longer than the rest of an update.
func sameMetadata(a, b *metav1.ObjectMeta) bool {
	return maps.Equal(a.Labels, b.Labels) && maps.Equal(a.Annotations, b.Annotations) && a.GenerateName == b.GenerateName &&
		slices.Equal(a.Finalizers, b.Finalizers) && reflect.DeepEqual(a.OwnerReferences, b.OwnerReferences) && sameManagers(a.ManagedFields, b.ManagedFields)
}
