package kubeapi

import (
	stderrors "errors"
	"fmt"
	"maps"
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

// update replaces the object that op names by obj, and creates it if it is missing and its
// kind allows that; created says so. An attempt writes to the object that it gets, so read
// returns it anew for each further attempt.
func (s *clusterState) update(op *operation, obj runtime.Object, read func() (runtime.Object, error), opts writeOptions) (o *object, created bool, err error) {
	if metadataOf(obj).Name == "" {
		return nil, false, errNoName(op.name)
	}
	used := false
	take := func() (runtime.Object, error) {
		if used {
			if obj, err = read(); err != nil {
				return nil, err
			}
		}
		used = true
		return obj, nil
	}
	o, err = s.modify(op, opts.dryRun, (*object).skim, func(base *object, old runtime.Object) (runtime.Object, error) {
		next, err := take()
		if err != nil {
			return nil, err
		}
		op.rules().complete(next, old)
		return op.account().own(base, old, next, opts.manager)
	})
	if errors.IsNotFound(err) && op.res.upsert && op.subresource == "" {
		if obj, err = take(); err != nil {
			return nil, false, err
		}
		o, err = s.upsert(op, obj, opts)
		return o, true, err
	}
	return o, false, err
}

// upsert creates what an update did not find, for the kinds that allow it.
func (s *clusterState) upsert(op *operation, obj runtime.Object, opts writeOptions) (*object, error) {
	if metadataOf(obj).Name != op.name {
		return nil, nameMismatch(metadataOf(obj).Name, op.name)
	}
	if uid := metadataOf(obj).UID; uid != "" {
		return nil, errors.NewConflict(op.res.groupResource(), op.name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: ", uid))
	}
	metadataOf(obj).ResourceVersion = ""
	return s.createOwned(op, obj, opts)
}

// patch replaces the object that op names by what patched makes of a copy of it.
func (s *clusterState) patch(op *operation, opts writeOptions, patched func(current runtime.Object) (runtime.Object, error)) (*object, error) {
	return s.modify(op, opts.dryRun, (*object).decode, func(base *object, old runtime.Object) (runtime.Object, error) {
		next, err := patched(op.res.shown(old.DeepCopyObject()))
		if err != nil {
			return nil, err
		}
		next = op.res.stored(next)
		op.rules().complete(next, old)
		return op.account().own(base, old, next, opts.manager)
	})
}

// change makes the next state of base, which was decoded as old.
type change func(base *object, old runtime.Object) (runtime.Object, error)

// modify replaces the object that op names by what change makes of what decode
// gives it, and again if another writer was first: then a state that insists on a
// version is a conflict.
func (s *clusterState) modify(op *operation, dryRun bool, decode func(*object) (runtime.Object, error), change change) (*object, error) {
	for attempt := 1; ; attempt++ {
		base := op.objects.get(op.key())
		if base == nil {
			return nil, op.notFound()
		}
		old, err := decode(base)
		if err != nil {
			return nil, err
		}
		next, err := change(base, old)
		if err != nil {
			return nil, err
		}
		o, err := s.replace(op, base, old, next, dryRun)
		if !moved(err) {
			return o, err
		}
		if attempt == updateAttempts {
			return nil, errors.NewConflict(op.res.groupResource(), op.name, errModified)
		}
	}
}

// replace stores next, made from old, the decoded base. A state that is no
// different is not stored; one without finalizers of an object that waited for
// them ends it.
func (s *clusterState) replace(op *operation, base *object, old, next runtime.Object, dryRun bool) (*object, error) {
	next, err := s.webhooks.mutate(op.question(), next, base, dryRun)
	if err != nil {
		return nil, err
	}
	t, err := s.revise(op, base, old, next)
	if err != nil {
		return nil, err
	}
	if err := s.webhooks.admit(op.question(), t.next, base, dryRun); err != nil {
		return nil, err
	}
	if dryRun || t.kind == "" {
		return t.sealed, nil
	}
	if base.deleting && s.mayGo(base, t.next) {
		_, err := s.remove(op.objects, base) // the last state is that before this write
		return t.sealed, err
	}
	o, err := op.objects.commitOne(t)
	if err == nil {
		op.written = t.next
	}
	if err == nil && base.deleting && op.objects == s.namespaces {
		err = s.sweep(base.name)
	}
	return o, err
}

// revise decides what an update makes of base.
func (s *clusterState) revise(op *operation, base *object, old, next runtime.Object) (transition, error) {
	if err := checkIdentity(op, base, metadataOf(next)); err != nil {
		return transition{}, err
	}
	isStatus := op.subresource == "status"
	switch {
	case isStatus:
		next = withStatus(old, next)
	case op.subresource == "finalize":
		next = withFinalizers(old, next)
	default:
		s.restore(op.rules(), old, next)
	}
	metadataOf(next).ResourceVersion = formatRV(base.rv)
	if err := op.res.invalid(op.name, s.validateUpdate(op.rules(), old, next)); err != nil {
		return transition{}, err
	}
	return prepareUpdate(op.objects, op.rules(), base, old, next, !isStatus)
}

// checkIdentity checks that next is a state of the object that the URL names, and of its version.
func checkIdentity(op *operation, base *object, next *metav1.ObjectMeta) error {
	switch {
	case next.Name != op.name:
		return nameMismatch(next.Name, op.name)
	case next.Namespace != "" && next.Namespace != op.namespace:
		return errors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	case next.UID != "" && next.UID != base.uid:
		return errors.NewConflict(op.res.groupResource(), op.name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", next.UID, base.uid))
	case next.ResourceVersion == "" && op.res.needsRV:
		kind := schema.GroupKind{Group: op.res.group, Kind: op.res.name} // the resource, as kube-apiserver words it
		return errors.NewInvalid(kind, op.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	case next.ResourceVersion != "" && next.ResourceVersion != "0" && next.ResourceVersion != formatRV(base.rv):
		return errors.NewConflict(op.res.groupResource(), op.name, errModified)
	}
	return nil
}

// restore undoes what an update may not change, and fills in what it left out.
func (s *clusterState) restore(res *resource, old, next runtime.Object) {
	keepIdentity(metadataOf(next), metadataOf(old))
	if res.status {
		setStatus(next, old)
	}
	res.complete(next, old)
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

func (s *clusterState) validateUpdate(res *resource, old, next runtime.Object) (problems field.ErrorList) {
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
