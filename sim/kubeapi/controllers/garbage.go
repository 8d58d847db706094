package controllers

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

const byOwner = "owner" // the index of dependents by the uid of an owner

// garbage deletes objects whose owners are all gone, and keeps the promises of
// the two propagation policies that hold the owner: foreground waits for its
// dependents, orphan frees them.
type garbage struct {
	*cluster
	queue     *loop
	kinds     map[schema.GroupKind]discovered
	resources map[string]discovered // by the first part of a key
	stores    map[string]cache.SharedIndexInformer
	factory   metadatainformer.SharedInformerFactory
}

func newGarbage(c *cluster) (*loop, error) {
	all, err := c.resources()
	if err != nil {
		return nil, err
	}
	g := &garbage{cluster: c, kinds: map[schema.GroupKind]discovered{}, resources: map[string]discovered{},
		stores: map[string]cache.SharedIndexInformer{}, factory: metadatainformer.NewSharedInformerFactory(c.metadata, 0)}
	g.queue = newLoop(g.sync)
	g.queue.start, g.queue.stop = g.begin, g.factory.Shutdown
	for _, r := range all {
		if err := g.follow(r); err != nil {
			return nil, err
		}
	}
	return g.queue, nil
}

// follow queues what a change of a resource's objects may concern: the object
// itself, its owners and, when it has gone, its dependents.
func (g *garbage) follow(r discovered) error {
	name := r.GroupVersionResource.GroupResource().String()
	informer := g.factory.ForResource(r.GroupVersionResource).Informer()
	err := informer.AddIndexers(cache.Indexers{byOwner: func(obj any) ([]string, error) {
		var uids []string
		for _, ref := range obj.(metav1.Object).GetOwnerReferences() {
			uids = append(uids, string(ref.UID))
		}
		return uids, nil
	}})
	if err != nil {
		return err
	}
	g.kinds[schema.GroupKind{Group: r.Group, Kind: r.kind}] = r
	g.resources[name], g.stores[name] = r, informer
	g.queue.watch(informer, func(obj metav1.Object) []string {
		keys := []string{name + "|" + keyOf(obj.GetNamespace(), obj.GetName())}
		for _, ref := range obj.GetOwnerReferences() {
			if owner, ok := g.kindOf(ref); ok {
				keys = append(keys, owner.GroupVersionResource.GroupResource().String()+"|"+owner.key(obj.GetNamespace(), ref.Name))
			}
		}
		return append(keys, g.dependentKeys(obj.GetUID())...)
	})
	return nil
}

// begin waits for the metadata of everything: who is missing then is gone.
func (g *garbage) begin(ctx context.Context) error {
	g.factory.Start(ctx.Done())
	for r, synced := range g.factory.WaitForCacheSync(ctx.Done()) {
		if !synced {
			return fmt.Errorf("reading the metadata of all %s: %w", r.Resource, context.Cause(ctx))
		}
	}
	return nil
}

func (r discovered) key(namespace, name string) string {
	if !r.namespaced {
		return name
	}
	return keyOf(namespace, name)
}

func (g *garbage) kindOf(ref metav1.OwnerReference) (discovered, bool) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	r, ok := g.kinds[schema.GroupKind{Group: gv.Group, Kind: ref.Kind}]
	return r, ok && err == nil
}

func (g *garbage) sync(ctx context.Context, key string) error {
	name, objectKey, _ := strings.Cut(key, "|")
	obj, exists, err := g.stores[name].GetIndexer().GetByKey(objectKey)
	if err != nil || !exists {
		return err
	}
	m := obj.(metav1.Object)
	objects := g.objects(name, m)
	switch {
	case m.GetDeletionTimestamp() == nil:
		return gone(g.collect(ctx, objects, m))
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return gone(g.orphan(ctx, objects, m))
	case slices.Contains(m.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return gone(g.foreground(ctx, objects, m))
	}
	return nil
}

func (g *garbage) objects(name string, m metav1.Object) metadata.ResourceInterface {
	r := g.metadata.Resource(g.resources[name].GroupVersionResource)
	if m.GetNamespace() == "" {
		return r
	}
	return r.Namespace(m.GetNamespace())
}

// collect deletes an object none of whose owners is left to stay. Where one
// stays the references to the others are dropped.
func (g *garbage) collect(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object) error {
	refs := m.GetOwnerReferences()
	if len(refs) == 0 {
		return nil
	}
	var staying []metav1.OwnerReference
	policy := metav1.DeletePropagationBackground
	for _, ref := range refs {
		state, err := g.ownerState(ctx, ref, m.GetNamespace())
		if err != nil {
			return err
		}
		switch state {
		case ownerStays:
			staying = append(staying, ref)
		case ownerWaits:
			policy = metav1.DeletePropagationForeground
		}
	}
	switch {
	case len(staying) == len(refs):
		return nil
	case len(staying) > 0:
		return patchMetadata(ctx, objects, m, "ownerReferences", staying)
	}
	// The version makes sure that nobody gave it another owner meanwhile.
	uid, version := m.GetUID(), m.GetResourceVersion()
	return objects.Delete(ctx, m.GetName(), metav1.DeleteOptions{PropagationPolicy: &policy,
		Preconditions: &metav1.Preconditions{UID: &uid, ResourceVersion: &version}})
}

type ownerState int

const (
	ownerStays ownerState = iota
	ownerGone
	ownerWaits // for its dependents to go first
)

// ownerState asks the API, not the cache, before it calls an owner gone.
func (g *garbage) ownerState(ctx context.Context, ref metav1.OwnerReference, namespace string) (ownerState, error) {
	r, ok := g.kindOf(ref)
	if !ok {
		return ownerStays, nil // of a kind not known here: never delete for that
	}
	name := r.GroupVersionResource.GroupResource().String()
	obj, exists, err := g.stores[name].GetIndexer().GetByKey(r.key(namespace, ref.Name))
	if err != nil {
		return ownerStays, err
	}
	owner, _ := obj.(metav1.Object)
	if !exists || owner.GetUID() != ref.UID {
		objects := metadata.ResourceInterface(g.metadata.Resource(r.GroupVersionResource))
		if r.namespaced {
			objects = g.metadata.Resource(r.GroupVersionResource).Namespace(namespace)
		}
		live, err := objects.Get(ctx, ref.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err) || err == nil && live.UID != ref.UID:
			return ownerGone, nil
		case err != nil:
			return ownerStays, err
		}
		owner = live
	}
	if owner.GetDeletionTimestamp() != nil && slices.Contains(owner.GetFinalizers(), metav1.FinalizerDeleteDependents) {
		return ownerWaits, nil
	}
	return ownerStays, nil
}

// foreground lets an owner go when no dependent is left that blocks it; the
// dependents are deleted in their own turns.
func (g *garbage) foreground(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object) error {
	for _, d := range g.dependents(m.GetUID()) {
		g.queue.queue.Add(d.key)
		for _, ref := range d.GetOwnerReferences() {
			if ref.UID == m.GetUID() && ref.BlockOwnerDeletion != nil && *ref.BlockOwnerDeletion {
				return nil // its end brings us back
			}
		}
	}
	return dropFinalizer(ctx, objects, m, metav1.FinalizerDeleteDependents)
}

// orphan frees the dependents of an owner, and lets it go.
func (g *garbage) orphan(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object) error {
	for _, d := range g.dependents(m.GetUID()) {
		others := slices.DeleteFunc(slices.Clone(d.GetOwnerReferences()), func(ref metav1.OwnerReference) bool { return ref.UID == m.GetUID() })
		name, _, _ := strings.Cut(d.key, "|")
		if err := gone(patchMetadata(ctx, g.objects(name, d), d, "ownerReferences", others)); err != nil {
			return err
		}
	}
	return dropFinalizer(ctx, objects, m, metav1.FinalizerOrphanDependents)
}

// dependent is an object that has the owner in question.
type dependent struct {
	metav1.Object
	key string
}

func (g *garbage) dependents(owner types.UID) []dependent {
	var all []dependent
	for name, store := range g.stores {
		found, _ := store.GetIndexer().ByIndex(byOwner, string(owner)) // fails only without the index
		for _, obj := range found {
			m := obj.(metav1.Object)
			all = append(all, dependent{m, name + "|" + keyOf(m.GetNamespace(), m.GetName())})
		}
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

func dropFinalizer(ctx context.Context, objects metadata.ResourceInterface, m metav1.Object, name string) error {
	others := slices.DeleteFunc(slices.Clone(m.GetFinalizers()), func(f string) bool { return f == name })
	return patchMetadata(ctx, objects, m, "finalizers", others)
}

// patchMetadata replaces one list of an object's metadata, of the version that was seen.
func patchMetadata[T any](ctx context.Context, objects metadata.ResourceInterface, m metav1.Object, field string, list []T) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		field: list, "uid": m.GetUID(), "resourceVersion": m.GetResourceVersion()}})
	if err != nil {
		return err
	}
	_, err = objects.Patch(ctx, m.GetName(), types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
