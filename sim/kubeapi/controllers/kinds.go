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
	// definitions are what brings and takes kinds while the server runs.
	definitions = "customresourcedefinitions.apiextensions.k8s.io"
	// readWithin is how long the reading of a new kind may take before it is tried again.
	readWithin = 5 * time.Second
)

// kinds is the metadata of all objects of all kinds that the server serves, brought up
// to date by refresh.
type kinds struct {
	*cluster
	indexers cache.Indexers
	watch    func(name string, informer cache.SharedIndexInformer) // what to do with a kind's changes

	refreshing sync.Mutex
	running    sync.WaitGroup
	mu         sync.RWMutex
	byKind     map[schema.GroupKind]*kind
	byName     map[string]*kind // the resource and its group
}

// kind is one of them, read at least once.
type kind struct {
	discovered
	name  string
	store cache.Indexer
	stop  context.CancelFunc
}

// of finds the kind that an object's owner says it is.
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

// refresh follows what is served now, and nothing else. It returns when all is read: who
// is missing then is gone.
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
	var reading errgroup.Group // together: each waits for its own list
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

// follow reads the objects of a kind and then knows it.
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
