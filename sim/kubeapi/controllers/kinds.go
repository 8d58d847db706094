package controllers

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

const (
	// definitions names the resource that adds and removes kinds while the server runs.
	definitions = "customresourcedefinitions.apiextensions.k8s.io"
	// readWithin is the time limit for the first list of a new kind; after it the list is retried.
	readWithin = 5 * time.Second
)

// kinds holds the metadata of all objects of all served kinds. refresh updates the list of kinds.
type kinds struct {
	*cluster
	indexers cache.Indexers
	watch    func(name string, informer cache.SharedIndexInformer) // subscribes to the changes of a kind's objects

	refreshing sync.Mutex
	running    sync.WaitGroup
	mu         sync.RWMutex
	byKind     map[schema.GroupKind]*kind
	byName     map[string]*kind // by the name of the resource with its group
}

// kind is one served kind. Its objects have been listed at least once.
type kind struct {
	discovered
	name  string
	store cache.Indexer
	stop  context.CancelFunc
}

// of returns the kind that an owner reference names.
func (k *kinds) of(ref metav1.OwnerReference) *kind {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return nil
	}
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.byKind[schema.GroupKind{Group: gv.Group, Kind: ref.Kind}]
}

func (k *kinds) named(name string) *kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	return k.byName[name]
}

func (k *kinds) all() []*kind {
	k.mu.RLock()
	defer k.mu.RUnlock()
	var all []*kind
	for _, one := range k.byName {
		all = append(all, one)
	}
	return all
}

// refresh starts informers for all kinds that are served now and stops all others. It returns when
// all caches have synced: an owner that is missing then is gone.
func (k *kinds) refresh(ctx context.Context) error {
	k.refreshing.Lock()
	defer k.refreshing.Unlock()
	served, err := k.resources()
	if err != nil {
		return err
	}
	for _, one := range k.all() {
		if !slices.Contains(served, one.discovered) {
			k.drop(one)
		}
	}
	var reading errgroup.Group // in parallel, because each waits for its own list
	for _, r := range served {
		if k.named(r.name()) == nil {
			reading.Go(func() error { return k.follow(ctx, r) })
		}
	}
	return reading.Wait()
}

func (r discovered) name() string { return r.GroupVersionResource.GroupResource().String() }

func (k *kinds) drop(one *kind) {
	k.mu.Lock()
	defer k.mu.Unlock()
	one.stop()
	delete(k.byName, one.name)
	delete(k.byKind, schema.GroupKind{Group: one.Group, Kind: one.kind})
}

// follow lists and watches the objects of a kind, and then adds the kind.
func (k *kinds) follow(ctx context.Context, r discovered) error {
	informer := metadatainformer.NewFilteredMetadataInformer(k.metadata, r.GroupVersionResource, metav1.NamespaceAll, 0, k.indexers, nil).Informer()
	k.watch(r.name(), informer)
	running, stop := context.WithCancel(ctx)
	k.running.Go(func() { informer.RunWithContext(running) })
	reading, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	if !cache.WaitForCacheSync(reading.Done(), informer.HasSynced) {
		stop()
		return fmt.Errorf("reading the metadata of all %s: %w", r.Resource, context.Cause(reading))
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	known := &kind{discovered: r, name: r.name(), store: informer.GetIndexer(), stop: stop}
	k.byName[known.name], k.byKind[schema.GroupKind{Group: r.Group, Kind: r.kind}] = known, known
	return nil
}
