// Package record follows what happens in a cluster: endpoints that come and go,
// hosts that are new. It stands between a live cluster and the scenario that lets
// the same happen again. Its one rule: it only looks; nothing is written to the
// cluster, and what a recording cannot hold is counted, not dropped in silence.
package record

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/churn"
)

// Options say what is followed, and how it is called.
type Options struct {
	Namespaces []string // nil: all
	Hash       bool     // names of services and hosts become hashes that cannot be guessed
	Began      func(services, pods, hosts int)
	Changed    func(changes int) // after each
}

// Record follows the cluster until ctx is done, and returns what it saw. It returns
// an error only where it could not begin.
func Record(ctx context.Context, config *rest.Config, o Options) (churn.Recording, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "windtunnel-record")
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return churn.Recording{}, err
	}
	namer, err := newNamer(o.Hash)
	if err != nil {
		return churn.Recording{}, err
	}
	t := newTape(namer)
	news := make(chan news, 1024)
	namespaces := o.Namespaces
	if namespaces == nil {
		namespaces = []string{""}
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var synced []cache.InformerSynced
	for _, namespace := range namespaces {
		all, err := follow(following, client, namespace, news)
		if err != nil {
			return churn.Recording{}, err
		}
		synced = append(synced, all...)
	}
	if err := t.first(following, news, synced); err != nil {
		return churn.Recording{}, fmt.Errorf("reading the cluster: %w", err)
	}
	began := time.Now()
	if o.Began != nil {
		o.Began(t.counts())
	}
	for {
		select {
		case n := <-news:
			before := len(t.changes)
			t.take(n, time.Since(began))
			if o.Changed != nil && len(t.changes) > before {
				o.Changed(len(t.changes))
			}
		case <-ctx.Done():
			return t.recording(time.Since(began)), nil
		}
	}
}

// news is an object as it is now; gone says that it was the last time.
type news struct {
	object any
	isNew  bool
	gone   bool
}

// follow brings the objects of a namespace, all for empty, as news.
func follow(ctx context.Context, client kubernetes.Interface, namespace string, to chan<- news) ([]cache.InformerSynced, error) {
	tell := func(n news) {
		if unknown, ok := n.object.(cache.DeletedFinalStateUnknown); ok {
			n.object = unknown.Obj
		}
		select {
		case to <- n:
		case <-ctx.Done():
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	var synced []cache.InformerSynced
	for _, informer := range []cache.SharedIndexInformer{
		factory.Core().V1().Services().Informer(),
		factory.Discovery().V1().EndpointSlices().Informer(),
		factory.Networking().V1().Ingresses().Informer(),
	} {
		registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { tell(news{object: object, isNew: true}) },
			UpdateFunc: func(_, object any) { tell(news{object: object}) },
			DeleteFunc: func(object any) { tell(news{object: object, gone: true}) },
		})
		if err != nil {
			return nil, err
		}
		synced = append(synced, registration.HasSynced)
	}
	factory.StartWithContext(ctx)
	return synced, nil
}
