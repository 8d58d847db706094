// Package record records the changes of a live cluster: endpoints that come and go, and new hosts.
// A scenario can replay the recording. Its one rule: it only reads the cluster, and it counts the
// changes that a recording cannot express instead of dropping them silently.
package record

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/churn"
)

// Options set what is recorded, and under which names. The functions may be nil.
type Options struct {
	Namespaces []string                        // none means all
	Hash       bool                            // replace names of services and hosts with hashes that cannot be guessed
	Missing    func(namespace string)          // called for each of Namespaces that does not exist
	Began      func(services, pods, hosts int) // called once, with the counts of the initial state
	Changed    func(changes int)               // called after each change, with their number
}

// Record watches the cluster until ctx is done and returns the recording. It returns an error only
// if it could not read the initial state.
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
	t := newRecorder(namer)
	events := make(chan informerEvent, 1024)
	namespaces := o.Namespaces
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	var synced []cache.InformerSynced
	for _, namespace := range namespaces {
		all, err := follow(following, client, namespace, events)
		if err != nil {
			return churn.Recording{}, err
		}
		synced = append(synced, all...)
	}
	if err := t.readInitialState(following, events, synced); err != nil {
		return churn.Recording{}, fmt.Errorf("read the cluster: %w", err)
	}
	if o.Missing != nil {
		for _, namespace := range o.Namespaces {
			// Without permission to read namespaces, nothing is reported.
			if _, err := client.CoreV1().Namespaces().Get(following, namespace, metav1.GetOptions{}); apierrors.IsNotFound(err) {
				o.Missing(namespace)
			}
		}
	}
	began := time.Now()
	if o.Began != nil {
		o.Began(t.counts())
	}
	for {
		select {
		case n := <-events:
			before := len(t.changes)
			t.add(n, time.Since(began))
			if o.Changed != nil && len(t.changes) > before {
				o.Changed(len(t.changes))
			}
		case <-ctx.Done():
			return t.recording(time.Since(began)), nil
		}
	}
}

// informerEvent is an event of an informer: an object that was added, updated or, if gone, deleted.
type informerEvent struct {
	object any
	isNew  bool
	gone   bool
}

// follow starts informers that send the events of a namespace, or of all for "". The returned
// functions report whether the initial state has been sent.
func follow(ctx context.Context, client kubernetes.Interface, namespace string, to chan<- informerEvent) ([]cache.InformerSynced, error) {
	send := func(n informerEvent) {
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
			AddFunc:    func(object any) { send(informerEvent{object: object, isNew: true}) },
			UpdateFunc: func(_, object any) { send(informerEvent{object: object}) },
			DeleteFunc: func(object any) { send(informerEvent{object: object, gone: true}) },
		})
		if err != nil {
			return nil, err
		}
		synced = append(synced, registration.HasSynced)
	}
	factory.StartWithContext(ctx)
	return synced, nil
}
