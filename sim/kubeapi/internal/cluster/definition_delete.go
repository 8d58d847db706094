package cluster

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/custom"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// The server acts as the finalizer of CustomResourceDefinitions: the deletion of a definition
// deletes its objects, and completes when the last of them is gone.

// deleteDefinition marks a definition as terminating and deletes its objects, and the definition
// too if no object remains.
func (s *State) deleteDefinition(base *store.Object) (*store.Object, error) {
	o := base
	if !base.Deleting {
		obj, err := base.Decode()
		if err != nil {
			return nil, err
		}
		crd := obj.(*apiextensionsv1.CustomResourceDefinition)
		markDeleted(object.Meta(crd), 0)
		crd.Finalizers = append(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
		custom.SetCondition(crd, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
		if o, err = s.markDefinition(base, crd); err != nil {
			return nil, err
		}
	}
	if d := s.custom.Load().definitions[base.Name]; d != nil {
		if err := s.deleteAll(d.objects); err != nil {
			return nil, err
		}
	}
	return o, s.removeDefinitionIfEmpty(base.Name)
}

// markDefinition marks a definition as terminating. It waits for creations that have already passed
// the check of the definition.
func (s *State) markDefinition(base *store.Object, terminating *apiextensionsv1.CustomResourceDefinition) (*store.Object, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	return s.definitions.Write(watch.Modified, base, terminating)
}

// removeDefinitionIfEmpty removes a terminating definition that has no objects left.
func (s *State) removeDefinitionIfEmpty(name string) error {
	for {
		base := s.definitions.Get(name)
		if base == nil || !base.Deleting {
			return nil
		}
		if d := s.custom.Load().definitions[name]; d != nil && d.objects.Len() > 0 {
			return nil
		}
		last, err := base.Decode()
		if err != nil {
			return err
		}
		m := object.Meta(last)
		ours := func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer }
		if !slices.ContainsFunc(m.Finalizers, ours) {
			return nil
		}
		m.Finalizers = slices.DeleteFunc(m.Finalizers, ours)
		kind := watch.Deleted
		if len(m.Finalizers) > 0 {
			kind = watch.Modified
		}
		if _, err := s.definitions.Write(kind, base, last); !store.IsConflict(err) {
			return err
		}
	}
}

// finishWaitingDeletions completes the deletions that were waiting for the removal of an object of
// c in namespace.
func (s *State) finishWaitingDeletions(c *store.Collection, namespace string) error {
	s.syncQuotas(namespace)
	if c.Resource.Custom != nil {
		if err := s.removeDefinitionIfEmpty(c.Resource.GroupResource().String()); err != nil {
			return err
		}
	}
	return s.removeNamespaceIfEmpty(namespace)
}

// deleteAll deletes all objects of c.
func (s *State) deleteAll(c *store.Collection) error {
	objects, _, _ := c.Snapshot()
	for _, o := range objects {
		if err := s.deleteRetrying(c, o); err != nil {
			return err
		}
	}
	return nil
}

// deleteRetrying deletes o, even if another writer changes it meanwhile.
func (s *State) deleteRetrying(c *store.Collection, o *store.Object) error {
	for o != nil {
		_, err := s.deleteWithoutContents(c, o, &metav1.DeleteOptions{})
		if !store.IsConflict(err) {
			return err
		}
		o = c.Get(o.Key)
	}
	return nil
}

// checkDefinition checks that the definition of a new object exists and is not terminating.
func (s *State) checkDefinition(res *resource.Resource, m *metav1.ObjectMeta) error {
	crd := s.definitions.Get(res.GroupResource().String())
	if crd == nil {
		return errors.NewNotFound(res.GroupResource(), m.Name)
	}
	if crd.Deleting {
		return errors.NewForbidden(res.GroupResource(), m.Name, fmt.Errorf("create not allowed while custom resource definition is terminating"))
	}
	return nil
}
