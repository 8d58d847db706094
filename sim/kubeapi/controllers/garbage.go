package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/tools/cache"
)

const byOwner = "owner" // index of dependents by owner UID

// garbage deletes objects whose owners are all gone. It also implements the two propagation
// policies that keep the owner for a while: foreground deletes the dependents first, and orphan
// removes their owner references.
type garbage struct {
	*cluster
	queue   *loop
	kinds   *kinds
	refresh func() error // updates the kinds
}

func newGarbage(c *cluster) (*loop, error) {
	g := &garbage{cluster: c}
	g.kinds = &kinds{cluster: c, watch: g.watch, byKind: map[schema.GroupKind]*kind{}, byName: map[string]*kind{},
		indexers: cache.Indexers{byOwner: func(obj any) ([]string, error) {
			var uids []string
			for _, ref := range obj.(metav1.Object).GetOwnerReferences() {
				uids = append(uids, string(ref.UID))
			}
			return uids, nil
		}}}
	g.queue = newLoop(g.sync)
	g.queue.start = func(ctx context.Context) error { // informers of new kinds use this context, too, because they must outlive the sync that found the kind
		g.refresh = func() error { return g.kinds.refresh(ctx) }
		return g.refresh()
	}
	g.queue.stop = g.kinds.running.Wait
	return g.queue, nil
}

// watch queues the objects that a change of one of the resource's objects may affect: the object
// itself, its owners and, after its deletion, its dependents.
func (g *garbage) watch(name string, informer cache.SharedIndexInformer) {
	g.queue.watch(informer, func(obj metav1.Object) []string {
		keys := []string{name + "|" + keyOf(obj.GetNamespace(), obj.GetName())}
		for _, ref := range obj.GetOwnerReferences() {
			if owner := g.kinds.of(ref); owner != nil {
				keys = append(keys, owner.name+"|"+owner.key(obj.GetNamespace(), ref.Name))
			}
		}
		return append(keys, g.dependentKeys(obj.GetUID())...)
	})
}

func (r discovered) key(namespace, name string) string {
	if !r.namespaced {
		return name
	}
	return keyOf(namespace, name)
}

func (g *garbage) sync(ctx context.Context, key string) error {
	name, objectKey, _ := strings.Cut(key, "|")
	if name == definitions {
		if err := g.refresh(); err != nil {
			return err
		}
		g.requeueAll()
	}
	kind := g.kinds.named(name)
	if kind == nil {
		return nil // no longer served
	}
	obj, exists, err := kind.store.GetByKey(objectKey)
	if err != nil || !exists {
		return err
	}
	m := obj.(metav1.Object)
	objects := g.objects(kind, m.GetNamespace())
	switch {
	case m.GetDeletionTimestamp() == nil:
		return ignoreNotFound(g.collect(ctx, objects, m))
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return ignoreNotFound(g.orphan(ctx, objects, m))
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return ignoreNotFound(g.foreground(ctx, objects, m))
	}
	return nil
}

// requeueAll queues all objects with owners. Deletions of a kind's objects are not seen until the kind
// is known.
func (g *garbage) requeueAll() {
	for _, kind := range g.kinds.all() {
		for _, owner := range kind.store.ListIndexFuncValues(byOwner) {
			for _, d := range g.dependentsOf(kind, owner) {
				g.queue.queue.Add(d.key)
			}
		}
	}
}

func (g *garbage) objects(kind *kind, namespace string) metadata.ResourceInterface {
	r := g.metadata.Resource(kind.GroupVersionResource)
	if !kind.namespaced {
		return r
	}
	return r.Namespace(namespace)
}

// collect deletes an object if all its owners are gone or wait for their dependents. If an owner stays,
// collect removes only the references to the others.
func (g *garbage) collect(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object) error {
	refs := m.GetOwnerReferences()
	if len(refs) == 0 {
		return nil
	}
	var staying []metav1.OwnerReference
	unseen := false
	policy := metav1.DeletePropagationBackground
	for _, ref := range refs {
		state, err := g.ownerState(ctx, ref, m.GetNamespace())
		if err != nil {
			return err
		}
		switch state {
		case ownerUnseen:
			unseen = true
			staying = append(staying, ref)
		case ownerStays:
			staying = append(staying, ref)
		case ownerWaits:
			policy = metav1.DeletePropagationForeground
		}
	}
	switch {
	case unseen:
		return errUnseen
	case len(staying) == len(refs):
		return nil
	case len(staying) > 0:
		return patchMetadata(ctx, objects, m, "ownerReferences", staying)
	}
	// The version makes the write fail if another owner was added meanwhile.
	uid, version := m.GetUID(), m.GetResourceVersion()
	return objects.Delete(ctx, m.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy,
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
}

type ownerState int

const (
	ownerStays ownerState = iota
	ownerGone
	ownerWaits  // it waits until its dependents are deleted
	ownerUnseen // it exists, but the informer of its kind has not seen it and may miss its deletion
)

// errUnseen makes the queue retry a dependent until its owner is in the cache or gone.
var errUnseen = errors.New("an owner is not in the cache yet")

// ownerState returns the state of an owner. It asks the API server, not the cache, before it
// reports that an owner is gone.
func (g *garbage) ownerState(ctx context.Context, ref metav1.OwnerReference, namespace string) (ownerState, error) {
	kind := g.kinds.of(ref)
	if kind == nil || kind.namespaced && namespace == "" {
		return ownerStays, nil // an owner that cannot be resolved is never a reason to delete the dependent
	}
	obj, exists, err := kind.store.GetByKey(kind.key(namespace, ref.Name))
	if err != nil {
		return ownerStays, err
	}
	owner, _ := obj.(metav1.Object)
	if !exists || owner.GetUID() != ref.UID {
		live, err := g.objects(kind, namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && live.UID != ref.UID:
			return ownerGone, nil
		case err != nil:
			return ownerStays, err
		case live.DeletionTimestamp == nil:
			return ownerUnseen, nil
		}
		owner = live
	}
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return ownerWaits, nil
	}
	return ownerStays, nil
}

// foreground removes the finalizer of an owner when no dependent blocks its deletion any more. The
// dependents are queued and deleted on their own.
func (g *garbage) foreground(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object) error {
	for _, d := range g.dependents(m.GetUID()) {
		g.queue.queue.Add(d.key)
		for _, ref := range d.GetOwnerReferences() {
			if ref.UID == m.GetUID() && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
				return nil // the deletion of the dependent queues the owner again
			}
		}
	}
	return removeFinalizer(ctx, objects, m, metav1.FinalizerDeleteDependents)
}

// orphan removes the owner references from the dependents of an owner, and then the owner's
// finalizer.
func (g *garbage) orphan(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object) error {
	for _, d := range g.dependents(m.GetUID()) {
		others := slices.DeleteFunc(slices.Clone(d.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == m.GetUID() })
		if err := ignoreNotFound(patchMetadata(ctx, g.objects(d.kind, d.GetNamespace()), d, "ownerReferences", others)); err != nil {
			return err
		}
	}
	return removeFinalizer(ctx, objects, m, metav1.FinalizerOrphanDependents)
}

// dependent is an object with a reference to the owner in question.
type dependent struct {
	metav1.Object
	kind *kind
	key  string
}

func (g *garbage) dependents(owner types.UID) []dependent {
	var all []dependent
	for _, kind := range g.kinds.all() {
		all = append(all, g.dependentsOf(kind, string(owner))...)
	}
	return all
}

// dependentsOf returns the dependents of one kind.
func (g *garbage) dependentsOf(kind *kind, owner string) (all []dependent) {
	found, _ := kind.store.ByIndex(byOwner, owner) // the only error is a missing index
	for _, obj := range found {
		m := obj.(metav1.Object)
		all = append(all, dependent{m, kind, kind.name + "|" + keyOf(m.GetNamespace(), m.GetName())})
	}
	return all
}

func (g *garbage) dependentKeys(owner types.UID) []string {
	var keys []string
	for _, d := range g.dependents(owner) {
		keys = append(keys, d.key)
	}
	return keys
}

func removeFinalizer(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object, name string) error {
	others := slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool { return f == name })
	return patchMetadata(ctx, objects, m, "finalizers", others)
}

// patchMetadata replaces one list in an object's metadata, if the object still has the given
// version.
func patchMetadata[T any](ctx context.Context, objects metadata.ResourceInterface, m metav1.Object, field string, list []T) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		field: list, "uid": m.GetUID(), "resourceVersion": m.GetResourceVersion()}})
	if err != nil {
		return err
	}
	_, err = objects.Patch(ctx, m.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
