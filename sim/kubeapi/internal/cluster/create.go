package cluster

import (
	stderrors "errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	machinery "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/kinds/validation"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

const (
	maxGenerateName      = 58 // length of the prefix: with five random characters it is at most a DNS label
	generateNameAttempts = 8
)

// CreateOwned inserts an object. The manager of the write becomes the owner of its fields.
func (s *State) CreateOwned(op *Operation, obj runtime.Object, opts WriteOptions) (*store.Object, error) {
	s.wipeSystemFields(object.Meta(obj))
	op.rules().Complete(obj, nil)
	obj, err := op.Ownership().Create(obj, opts.Manager)
	if err != nil {
		return nil, err
	}
	return s.insert(op, obj, opts.DryRun)
}

// insert stores a new object, under a generated name if it has none.
func (s *State) insert(op *Operation, obj runtime.Object, dryRun bool) (*store.Object, error) {
	m := object.Meta(obj)
	if err := SetNamespace(m, op); err != nil {
		return nil, err
	}
	if m.ResourceVersion != "" {
		return nil, stderrors.New("resourceVersion should not be set on objects to be created")
	}
	generate := m.Name == "" && m.GenerateName != ""
	for attempt := 1; ; attempt++ {
		if generate {
			m.Name = m.GenerateName[:min(len(m.GenerateName), maxGenerateName)] + rand.String(5)
		}
		o, err := s.insertNamed(op, obj, dryRun)
		if generate && errors.IsAlreadyExists(err) && attempt < generateNameAttempts {
			continue
		}
		return o, err
	}
}

// SetNamespace sets the namespace of a written object to that of the operation. As in kube-apiserver,
// it removes the namespace of a cluster-wide object, which charts often set.
func SetNamespace(m *metav1.ObjectMeta, op *Operation) error {
	switch {
	case op.Resource.ClusterScoped:
		m.Namespace = ""
		return nil
	case op.Namespace == "":
		return ErrMethod()
	case m.Namespace != "" && m.Namespace != op.Namespace:
		return errors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.Namespace = op.Namespace
	return nil
}

func (s *State) insertNamed(op *Operation, obj runtime.Object, dryRun bool) (*store.Object, error) {
	if admit := op.rules().Admit; admit != nil {
		if err := admit(obj, s); err != nil {
			return nil, err
		}
	}
	obj, err := s.webhooks.Mutate(op.admissionRequest(), obj, nil, dryRun)
	if err != nil {
		return nil, err
	}
	m, res := object.Meta(obj), op.rules()
	op.dryRun = dryRun
	defer op.release()
	s.prepareNew(res, obj)
	s.assign(op, obj, nil)
	if err := op.Resource.Invalid(m.Name, s.validateNew(res, obj)); err != nil {
		return nil, err
	}
	if err := s.webhooks.Admit(op.admissionRequest(), obj, nil, dryRun); err != nil {
		return nil, err
	}
	s.creating.RLock()
	defer s.creating.RUnlock()
	if err := s.checkNamespace(op.Resource, m); err != nil {
		return nil, err
	}
	if existing := op.Objects.Get(object.Key(m.Namespace, m.Name)); existing != nil {
		return nil, alreadyExists(op.Resource, existing)
	}
	if err := s.reserve(op, obj, nil); err != nil {
		return nil, err
	}
	allow, err := s.reserveQuota(op, obj, nil)
	if err != nil {
		return nil, err
	}
	if dryRun {
		allow()
		return store.Encode(res, obj, 0)
	}
	o, err := op.Objects.Write(watch.Added, nil, obj)
	allow()
	s.syncQuotas(m.Namespace)
	switch {
	case err == nil:
		op.Written = obj
	case store.IsConflict(err):
		return nil, errors.NewAlreadyExists(op.Resource.GroupResource(), m.Name)
	}
	return o, err
}

func alreadyExists(res *resource.Resource, existing *store.Object) error {
	err := errors.NewAlreadyExists(res.GroupResource(), existing.Name)
	if existing.Deleting {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// prepareNew sets the fields of a new object that only the server decides.
func (s *State) prepareNew(res *resource.Resource, obj runtime.Object) {
	m := object.Meta(obj)
	s.wipeSystemFields(m)
	m.UID = uuid.NewUUID()
	if m.CreationTimestamp.IsZero() {
		m.CreationTimestamp = metav1.NewTime(time.Now().Truncate(time.Second))
	}
	m.Generation = 0
	if res.Generation {
		m.Generation = 1
	}
	if res.Status && !res.CreatesStatus {
		object.ClearStatus(obj)
		if custom, ok := obj.(*object.Custom); ok { // kube-apiserver sets defaults when it reads from its storage
			res.Custom.SetDefaults(custom.Content)
		}
	}
	res.Complete(obj, nil)
	if res.Prepare != nil {
		res.Prepare(obj, nil, s)
	}
}

// wipeSystemFields clears the fields that no client may set in a new object.
func (s *State) wipeSystemFields(m *metav1.ObjectMeta) {
	m.UID, m.SelfLink = "", ""
	m.DeletionTimestamp, m.DeletionGracePeriodSeconds = nil, nil
	if !s.creationTimes || m.CreationTimestamp.After(time.Now()) {
		m.CreationTimestamp = metav1.Time{}
	}
}

func (s *State) validateNew(res *resource.Resource, obj runtime.Object) field.ErrorList {
	problems := machinery.ValidateObjectMeta(object.Meta(obj), !res.ClusterScoped, res.NameRule(), field.NewPath("metadata"))
	problems = append(problems, validation.Finalizers(res, object.Meta(obj))...)
	if res.Validate != nil {
		problems = append(problems, res.Validate(obj, nil, s)...)
	}
	return problems
}

// checkNamespace checks that the namespace of a new object exists and is not terminating.
func (s *State) checkNamespace(res *resource.Resource, m *metav1.ObjectMeta) error {
	if res.Custom != nil {
		if err := s.checkDefinition(res, m); err != nil {
			return err
		}
	}
	if res.ClusterScoped {
		return nil
	}
	ns := s.namespaces.Get(m.Namespace)
	if ns == nil {
		return errors.NewNotFound(s.namespaces.Resource.GroupResource(), m.Namespace)
	}
	if ns.Deleting {
		err := errors.NewForbidden(res.GroupResource(), m.Name,
			fmt.Errorf("unable to create new content in namespace %s because it is being terminated", m.Namespace))
		err.ErrStatus.Details.Causes = []metav1.StatusCause{{
			Type:    "NamespaceTerminating",
			Message: fmt.Sprintf("namespace %s is being terminated", m.Namespace),
			Field:   "metadata.namespace",
		}}
		return err
	}
	return nil
}
