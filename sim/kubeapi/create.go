package kubeapi

import (
	stderrors "errors"
	"fmt"
	"net/http"
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

func (s *Server) create(w http.ResponseWriter, r *request) error {
	obj, err := readObject(w, r)
	if err != nil {
		return err
	}
	opts, err := r.createOptions()
	if err != nil {
		return err
	}
	o, err := s.createOwned(r, obj, opts)
	if err != nil {
		return err
	}
	return respond(w, r, http.StatusCreated, o)
}

// createOwned inserts an object that the request's manager then owns.
func (s *Server) createOwned(r *request, obj runtime.Object, opts writeOptions) (*object, error) {
	wipeSystemFields(metadataOf(obj))
	s.complete(r.rules(), obj, nil)
	obj, err := r.own(nil, r.objects.res.empty(), obj, opts.manager)
	if err != nil {
		return nil, err
	}
	return s.insert(r, obj, opts.dryRun)
}

// insert makes obj a new object, under a generated name if it has none.
func (s *Server) insert(r *request, obj runtime.Object, dryRun bool) (*object, error) {
	m := metadataOf(obj)
	if err := placeIn(m, r); err != nil {
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
		o, err := s.insertNamed(r, obj, dryRun)
		if generate && errors.IsAlreadyExists(err) && attempt < generateNameAttempts {
			continue
		}
		return o, err
	}
}

// placeIn puts a new object into the URL's namespace.
func placeIn(m *metav1.ObjectMeta, r *request) error {
	switch {
	case r.res.clusterScoped:
		return nil
	case r.namespace == "":
		return errMethod()
	case m.Namespace != "" && m.Namespace != r.namespace:
		return errors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	m.Namespace = r.namespace
	return nil
}

func (s *Server) insertNamed(r *request, obj runtime.Object, dryRun bool) (*object, error) {
	obj, err := s.mutate(r, obj, nil, dryRun)
	if err != nil {
		return nil, err
	}
	m, res := metadataOf(obj), r.rules()
	s.prepareNew(res, obj)
	if err := invalid(r.res, m.Name, s.validateNew(res, obj)); err != nil {
		return nil, err
	}
	if err := s.admit(r, obj, nil, dryRun); err != nil {
		return nil, err
	}
	s.creating.RLock()
	defer s.creating.RUnlock()
	if err := s.admitsNew(r.res, m); err != nil {
		return nil, err
	}
	if existing := r.objects.get(keyOf(m.Namespace, m.Name)); existing != nil {
		return nil, alreadyExists(r.res, existing)
	}
	release, err := s.claimClusterIP(r, obj)
	if err != nil {
		return nil, err
	}
	defer release()
	if dryRun {
		return res.seal(obj, 0)
	}
	o, err := r.objects.commit(watch.Added, nil, obj)
	switch {
	case err == nil:
		r.written = obj
	case moved(err):
		return nil, errors.NewAlreadyExists(r.res.groupResource(), m.Name)
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
func (s *Server) prepareNew(res *resource, obj runtime.Object) {
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
	s.complete(res, obj, nil)
	if res.prepare != nil {
		res.prepare(obj, nil, s)
	}
}

// complete fills in what the client left out.
func (s *Server) complete(res *resource, obj, old runtime.Object) {
	if res.defaults != nil {
		res.defaults(obj, old, s)
	}
}

// wipeSystemFields clears what no client may set on a new object.
func wipeSystemFields(m *metav1.ObjectMeta) {
	m.UID, m.SelfLink = "", ""
	m.CreationTimestamp, m.DeletionTimestamp, m.DeletionGracePeriodSeconds = metav1.Time{}, nil, nil
}

func (s *Server) validateNew(res *resource, obj runtime.Object) field.ErrorList {
	problems := validation.ValidateObjectMeta(metadataOf(obj), !res.clusterScoped, res.nameRule(), field.NewPath("metadata"))
	problems = append(problems, validateFinalizers(res, metadataOf(obj))...)
	if res.validate != nil {
		problems = append(problems, res.validate(obj, nil, s)...)
	}
	return problems
}

func invalid(res *resource, name string, problems field.ErrorList) error {
	if len(problems) == 0 {
		return nil
	}
	return errors.NewInvalid(res.gvk().GroupKind(), name, problems)
}

// admitsNew checks that the namespace is there, and not about to go.
func (s *Server) admitsNew(res *resource, m *metav1.ObjectMeta) error {
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
