package kubeapi

import (
	stderrors "errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	maxGenerateName      = 58 // of a prefix, so that five random characters make a DNS label of it
	generateNameAttempts = 8
)

// createOwned inserts an object that the request's manager then owns.
func (s *clusterState) createOwned(op *operation, obj runtime.Object, opts writeOptions) (*object, error) {
	wipeSystemFields(metadataOf(obj))
	op.rules().complete(obj, nil)
	obj, err := op.account().own(nil, op.objects.res.empty(), obj, opts.manager)
	if err != nil {
		return nil, err
	}
	return s.insert(op, obj, opts.dryRun)
}

// insert makes obj a new object, under a generated name if it has none.
func (s *clusterState) insert(op *operation, obj runtime.Object, dryRun bool) (*object, error) {
	m := metadataOf(obj)
	if err := placeIn(m, op); err != nil {
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

// placeIn puts a new object into the URL's namespace.
func placeIn(m *metav1.ObjectMeta, op *operation) error {
	switch {
	case op.res.clusterScoped:
		return nil
	case op.namespace == "":
		return errMethod()
	case m.Namespace != "" && m.Namespace != op.namespace:
		return errors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.Namespace = op.namespace
	return nil
}

func (s *clusterState) insertNamed(op *operation, obj runtime.Object, dryRun bool) (*object, error) {
	obj, err := s.webhooks.mutate(op.question(), obj, nil, dryRun)
	if err != nil {
		return nil, err
	}
	m, res := metadataOf(obj), op.rules()
	s.prepareNew(res, obj)
	if err := op.res.invalid(m.Name, s.validateNew(res, obj)); err != nil {
		return nil, err
	}
	if err := s.webhooks.admit(op.question(), obj, nil, dryRun); err != nil {
		return nil, err
	}
	s.creating.RLock()
	defer s.creating.RUnlock()
	if err := s.admitsNew(op.res, m); err != nil {
		return nil, err
	}
	if existing := op.objects.get(keyOf(m.Namespace, m.Name)); existing != nil {
		return nil, alreadyExists(op.res, existing)
	}
	release, err := s.claimClusterIP(op, obj)
	if err != nil {
		return nil, err
	}
	defer release()
	if dryRun {
		return res.seal(obj, 0)
	}
	o, err := op.objects.commit(watch.Added, nil, obj)
	switch {
	case err == nil:
		op.written = obj
	case moved(err):
		return nil, errors.NewAlreadyExists(op.res.groupResource(), m.Name)
	}
	return o, err
}

func alreadyExists(res *resource, existing *object) error {
	err := errors.NewAlreadyExists(res.groupResource(), existing.name)
	if existing.deleting {
		err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
	}
	return err
}

// prepareNew sets what the server alone decides of a new object.
func (s *clusterState) prepareNew(res *resource, obj runtime.Object) {
	m := metadataOf(obj)
	wipeSystemFields(m)
	m.UID = uuid.NewUUID()
	m.CreationTimestamp = metav1.NewTime(time.Now().Truncate(time.Second))
	m.Generation = 0
	if res.generation {
		m.Generation = 1
	}
	if res.status && !res.createsStatus {
		clearStatus(obj)
	}
	res.complete(obj, nil)
	if res.prepare != nil {
		res.prepare(obj, nil, s)
	}
}

// wipeSystemFields clears what no client may set on a new object.
func wipeSystemFields(m *metav1.ObjectMeta) {
	m.UID, m.SelfLink = "", ""
	m.CreationTimestamp, m.DeletionTimestamp, m.DeletionGracePeriodSeconds = metav1.Time{}, nil, nil
}

func (s *clusterState) validateNew(res *resource, obj runtime.Object) field.ErrorList {
	problems := validation.ValidateObjectMeta(metadataOf(obj), !res.clusterScoped, res.nameRule(), field.NewPath("metadata"))
	problems = append(problems, validateFinalizers(res, metadataOf(obj))...)
	if res.validate != nil {
		problems = append(problems, res.validate(obj, nil, s)...)
	}
	return problems
}

// admitsNew checks that the namespace is there, and not about to go.
func (s *clusterState) admitsNew(res *resource, m *metav1.ObjectMeta) error {
	if res.custom != nil {
		if err := s.admitsCustom(res, m); err != nil {
			return err
		}
	}
	if res.clusterScoped {
		return nil
	}
	ns := s.namespaces.get(m.Namespace)
	if ns == nil {
		return errors.NewNotFound(s.namespaces.res.groupResource(), m.Namespace)
	}
	if ns.deleting {
		err := errors.NewForbidden(res.groupResource(), m.Name,
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
