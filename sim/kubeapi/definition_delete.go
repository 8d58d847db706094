package kubeapi

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// The server plays the finalizer of CustomResourceDefinitions: one that is
// deleted takes its objects along, and stays until the last of them is gone.

// endDefinition marks a definition as terminating, deletes its objects and, if
// nothing holds on, the definition itself.
func (s *clusterState) endDefinition(base *object) (*object, error) {
	o := base
	if !base.deleting {
		obj, err := base.decode()
		if err != nil {
			return nil, err
		}
		crd := obj.(*apiextensionsv1.CustomResourceDefinition)
		markDeleted(metadataOf(crd), 0)
		crd.Finalizers = append(crd.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
		setCondition(crd, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
		if o, err = s.markDefinition(base, crd); err != nil {
			return nil, err
		}
	}
	if d := s.custom.Load().definitions[base.name]; d != nil {
		if err := s.endAll(d.objects); err != nil {
			return nil, err
		}
	}
	return o, s.settleDefinition(base.name)
}

// markDefinition waits for the creations that have looked at the definition already.
func (s *clusterState) markDefinition(base *object, terminating *apiextensionsv1.CustomResourceDefinition) (*object, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	return s.definitions.commit(watch.Modified, base, terminating)
}

// settleDefinition lets a terminating definition go when it has no objects left.
func (s *clusterState) settleDefinition(name string) error {
	for {
		base := s.definitions.get(name)
		if base == nil || !base.deleting {
			return nil
		}
		if d := s.custom.Load().definitions[name]; d != nil && d.objects.len() > 0 {
			return nil
		}
		last, err := base.decode()
		if err != nil {
			return err
		}
		m := metadataOf(last)
		ours := func(f string) bool { return f == apiextensionsv1.CustomResourceCleanupFinalizer }
		if !slices.ContainsFunc(m.Finalizers, ours) {
			return nil
		}
		m.Finalizers = slices.DeleteFunc(m.Finalizers, ours)
		kind := watch.Deleted
		if len(m.Finalizers) > 0 {
			kind = watch.Modified
		}
		if _, err := s.definitions.commit(kind, base, last); !moved(err) {
			return err
		}
	}
}

// settle finishes the deletions that waited for an object of c in namespace to go.
func (s *clusterState) settle(c *collection, namespace string) error {
	if c.res.custom != nil {
		if err := s.settleDefinition(c.res.groupResource().String()); err != nil {
			return err
		}
	}
	return s.settleNamespace(namespace)
}

// endAll ends all objects.
func (s *clusterState) endAll(c *collection) error {
	objects, _, _ := c.snapshot()
	for _, o := range objects {
		if err := s.endKey(c, o); err != nil {
			return err
		}
	}
	return nil
}

// endKey ends o, whatever it has become meanwhile.
func (s *clusterState) endKey(c *collection, o *object) error {
	for o != nil {
		_, err := s.endOne(c, o, &metav1.DeleteOptions{})
		if !moved(err) {
			return err
		}
		o = c.get(o.key)
	}
	return nil
}

// admitsCustom checks that the definition of a new object is there, and not about to go.
func (s *clusterState) admitsCustom(res *resource, m *metav1.ObjectMeta) error {
	crd := s.definitions.get(res.groupResource().String())
	if crd == nil {
		return errors.NewNotFound(res.groupResource(), m.Name)
	}
	if crd.deleting {
		return errors.NewForbidden(res.groupResource(), m.Name, fmt.Errorf("create not allowed while custom resource definition is terminating"))
	}
	return nil
}
