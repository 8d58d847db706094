package cluster

import (
	stderrors "errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/kinds/validation"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/ownership"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// updateAttempts is the maximum number of attempts of an update that keeps losing to other writers.
const updateAttempts = 100

var errModified = stderrors.New("the object has been modified; please apply your changes to the latest version and try again")

// Update replaces the object that op names by obj. If the object does not exist and its kind allows
// it, Update creates the object; created reports that. Each attempt changes the object that it
// gets, so read returns a new one for each further attempt.
func (s *State) Update(op *Operation, obj runtime.Object, read func() (runtime.Object, error), opts WriteOptions) (o *store.Object, created bool, err error) {
	if object.Meta(obj).Name == "" {
		return nil, false, errNoName(op.Name)
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
	o, err = s.modify(op, opts.DryRun, (*store.Object).DecodeWithoutLargeField, func(base *store.Object, old runtime.Object) (runtime.Object, error) {
		next, err := take()
		if err != nil {
			return nil, err
		}
		op.rules().Complete(next, old)
		return op.Ownership().Update(base, old, next, opts.Manager)
	})
	if errors.IsNotFound(err) && op.Resource.Upsert && op.Subresource == "" {
		if obj, err = take(); err != nil {
			return nil, false, err
		}
		o, err = s.upsert(op, obj, opts)
		return o, true, err
	}
	return o, false, err
}

// upsert creates an object that an update did not find, for the kinds that allow this.
func (s *State) upsert(op *Operation, obj runtime.Object, opts WriteOptions) (*store.Object, error) {
	if object.Meta(obj).Name != op.Name {
		return nil, nameMismatch(object.Meta(obj).Name, op.Name)
	}
	if uid := object.Meta(obj).UID; uid != "" {
		return nil, errors.NewConflict(op.Resource.GroupResource(), op.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: ", uid))
	}
	object.Meta(obj).ResourceVersion = ""
	return s.CreateOwned(op, obj, opts)
}

// Patch replaces the object that op names by the result of patched, which gets a copy of it.
func (s *State) Patch(op *Operation, opts WriteOptions, patched func(current runtime.Object) (runtime.Object, error)) (*store.Object, error) {
	return s.modify(op, opts.DryRun, (*store.Object).Decode, func(base *store.Object, old runtime.Object) (runtime.Object, error) {
		next, err := patched(op.Resource.FromStored(old.DeepCopyObject()))
		if err != nil {
			return nil, err
		}
		next = op.Resource.ToStored(next)
		op.rules().Complete(next, old)
		return op.Ownership().Update(base, old, next, opts.Manager)
	})
}

// change returns the next state of base, which was decoded as old.
type change func(base *store.Object, old runtime.Object) (runtime.Object, error)

// modify replaces the object that op names by the result of change, which gets the object and its
// decoded form from decode. If another writer changed the object first, modify tries again; on a
// retry, a state with a resourceVersion is a conflict.
func (s *State) modify(op *Operation, dryRun bool, decode func(*store.Object) (runtime.Object, error), change change) (*store.Object, error) {
	for attempt := 1; ; attempt++ {
		base := op.Objects.Get(op.Key())
		if base == nil {
			return nil, op.NotFound()
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
		if !store.IsConflict(err) {
			return o, err
		}
		if attempt == updateAttempts {
			return nil, errors.NewConflict(op.Resource.GroupResource(), op.Name, errModified)
		}
	}
}

// replace stores next, which was made from old, the decoded base. It stores nothing if next equals
// the stored state. If base is only held by its finalizers and next has none, replace removes the
// object.
func (s *State) replace(op *Operation, base *store.Object, old, next runtime.Object, dryRun bool) (*store.Object, error) {
	next, err := s.webhooks.Mutate(op.admissionRequest(), next, base, dryRun)
	if err != nil {
		return nil, err
	}
	op.dryRun = dryRun
	defer op.release()
	t, err := s.revise(op, base, old, next)
	if err != nil {
		return nil, err
	}
	if err := s.webhooks.Admit(op.admissionRequest(), t.Next, base, dryRun); err != nil {
		return nil, err
	}
	if err := s.reserve(op, t.Next, old); err != nil {
		return nil, err
	}
	allow, err := s.reserveQuota(op, t.Next, old)
	if err != nil {
		return nil, err
	}
	if dryRun || t.Kind == "" {
		allow()
		return t.Encoded, nil
	}
	if base.Deleting && s.isRemovable(base, t.Next) {
		allow()
		_, err := s.remove(op.Objects, base) // the last visible state is the one before this write
		return t.Encoded, err
	}
	o, err := op.Objects.Commit(t)
	allow()
	if err == nil {
		op.Written = t.Next
	}
	s.syncQuotasAfter(op, old, t.Next)
	if err == nil && base.Deleting && op.Objects == s.namespaces {
		err = s.sweep(base.Name)
	}
	return o, err
}

// revise returns the transition of an update of base. The caller releases op.
func (s *State) revise(op *Operation, base *store.Object, old, next runtime.Object) (store.Transition, error) {
	if err := SetNamespace(object.Meta(next), op); err != nil {
		return store.Transition{}, err
	}
	if err := checkIdentity(op, base, object.Meta(next)); err != nil {
		return store.Transition{}, err
	}
	isStatus := op.Subresource == "status"
	switch {
	case isStatus:
		next = withStatus(old, next)
	case op.Subresource == "finalize":
		next = withFinalizers(old, next)
	default:
		s.restore(op.rules(), old, next)
		s.assign(op, next, old)
	}
	object.Meta(next).ResourceVersion = object.FormatVersion(base.Version)
	if err := op.Resource.Invalid(op.Name, s.validateUpdate(op.rules(), old, next)); err != nil {
		return store.Transition{}, err
	}
	return prepareUpdate(op.Objects, op.rules(), base, old, next, !isStatus)
}

// checkIdentity checks that next has the name and UID of the object that op names, and its current
// version.
func checkIdentity(op *Operation, base *store.Object, next *metav1.ObjectMeta) error {
	switch {
	case next.Name != op.Name:
		return nameMismatch(next.Name, op.Name)
	case next.UID != "" && next.UID != base.UID:
		return errors.NewConflict(op.Resource.GroupResource(), op.Name,
			fmt.Errorf("Precondition failed: UID in precondition: %v, UID in object meta: %v", next.UID, base.UID))
	case next.ResourceVersion == "" && op.Resource.NeedsVersion:
		kind := schema.GroupKind{Group: op.Resource.Group, Kind: op.Resource.Name} // the resource instead of the kind, as in kube-apiserver's message
		return errors.NewInvalid(kind, op.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update")})
	case next.ResourceVersion != "" && next.ResourceVersion != "0" && next.ResourceVersion != object.FormatVersion(base.Version):
		return errors.NewConflict(op.Resource.GroupResource(), op.Name, errModified)
	}
	return nil
}

// restore reverts the changes that an update may not make, and sets defaults.
func (s *State) restore(res *resource.Resource, old, next runtime.Object) {
	keepIdentity(object.Meta(next), object.Meta(old))
	if res.Status {
		object.SetStatus(next, old)
	}
	res.Complete(next, old)
	if res.Prepare != nil {
		res.Prepare(next, old, s)
	}
}

func keepIdentity(is, was *metav1.ObjectMeta) {
	is.Namespace, is.UID = was.Namespace, was.UID
	is.CreationTimestamp, is.DeletionTimestamp = was.CreationTimestamp, was.DeletionTimestamp
	is.DeletionGracePeriodSeconds, is.Generation = was.DeletionGracePeriodSeconds, was.Generation
	is.SelfLink = ""
}

// withStatus returns old with the status of next, and with the metadata that a status update may
// change.
func withStatus(old, next runtime.Object) runtime.Object {
	merged := object.WithoutKind(old.DeepCopyObject()) // the field manager has set the kind of old
	object.SetStatus(merged, next)
	if pod, ok := merged.(*corev1.Pod); ok && pod.Status.QOSClass == "" { // old kubelets drop it
		pod.Status.QOSClass = old.(*corev1.Pod).Status.QOSClass
	}
	is, from := object.Meta(merged), object.Meta(next)
	if _, custom := next.(*object.Custom); custom {
		is.ResourceVersion, is.ManagedFields = from.ResourceVersion, from.ManagedFields // and nothing else
		return merged
	}
	is.ResourceVersion, is.Labels, is.Annotations, is.Finalizers = from.ResourceVersion, from.Labels, from.Annotations, from.Finalizers
	is.ManagedFields = from.ManagedFields
	return merged
}

func (s *State) validateUpdate(res *resource.Resource, old, next runtime.Object) (problems field.ErrorList) {
	if is, was := object.Meta(next), object.Meta(old); !ownership.SameMetadata(is, was) {
		problems = validateMetadataChange(res, is, was)
	}
	if res.Validate != nil {
		problems = append(problems, res.Validate(next, old, s)...)
	}
	return problems
}

// validateMetadataChange reports some problems more than once, as kube-apiserver does: it checks
// the metadata of all kinds in the same way, then each kind checks its own metadata again, and some
// kinds check it as if the object were new.
func validateMetadataChange(res *resource.Resource, is, was *metav1.ObjectMeta) field.ErrorList {
	path := field.NewPath("metadata")
	whole, change := machinery.ValidateObjectMeta(is, !res.ClusterScoped, res.NameRule(), path), machinery.ValidateObjectMetaUpdate(is, was, path)
	problems := slices.Concat(whole, change)
	if res.ValidatedWhole {
		problems = slices.Concat(problems, whole, validation.Finalizers(res, is))
	}
	return slices.Concat(problems, change, validation.Finalizers(res, is))
}
