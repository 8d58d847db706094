// Package follow reads the services, endpoints and ingresses of a live cluster, and follows their
// changes. Its one rule: it only reads, and it says when the API server could not be read.
package follow

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// Event is an object that was added, updated or, if Gone, deleted, and when the API server said so.
type Event struct {
	Object    any
	New, Gone bool
	At        time.Time
}

// How long the API server may take to answer a first request, and to send the whole initial state.
const (
	firstPatience = 30 * time.Second
	readPatience  = 2 * time.Minute
)

// ReportAfter returns how long to wait until the next line of progress: 10 s in the first minute, later a
// minute.
func ReportAfter(took time.Duration) time.Duration {
	if took < time.Minute {
		return 10 * time.Second
	}
	return time.Minute
}

// Follower follows the objects of a cluster.
type Follower struct {
	// Events are the initial state, and then its changes.
	Events <-chan Event
	// Outages says, once for each time that the API server cannot be read, why. An outage that ends
	// before the next attempt of client-go is not noticed.
	Outages <-chan error

	noticed *outage
	synced  []cache.InformerSynced
}

// Unreadable returns why the API server cannot be read now, or nil if it can be.
func (f *Follower) Unreadable() error { return f.noticed.now() }

// Start follows namespaces until ctx ends: all if there are none, or if one of them is "". It returns
// an error if the API server does not let the user read them.
func Start(ctx context.Context, config *rest.Config, namespaces []string) (*Follower, error) {
	namespaces = distinct(namespaces)
	noticed := &outage{told: make(chan error, 16)}
	config = rest.CopyConfig(config)
	config.Wrap(noticed.wrap)
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := tryLists(ctx, client, namespaces); err != nil {
		return nil, err
	}
	events := make(chan Event, 4096)
	f := &Follower{Events: events, Outages: noticed.told, noticed: noticed}
	for _, namespace := range namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
		for kind, informer := range map[string]cache.SharedIndexInformer{
			"services":       factory.Core().V1().Services().Informer(),
			"endpointslices": factory.Discovery().V1().EndpointSlices().Informer(),
			"ingresses":      factory.Networking().V1().Ingresses().Informer(),
		} {
			synced, err := add(ctx, informer, events, noticed.ofWatch(kind))
			if err != nil {
				return nil, err
			}
			f.synced = append(f.synced, synced)
		}
		factory.StartWithContext(ctx)
	}
	return f, nil
}

// tryLists asks for one object of each kind. Informers would try again in silence if the API server
// cannot be reached, or refuses.
func tryLists(ctx context.Context, client kubernetes.Interface, namespaces []string) error {
	ctx, stop := context.WithTimeoutCause(ctx, firstPatience, fmt.Errorf("no answer within %v", firstPatience))
	defer stop()
	one := metav1.ListOptions{Limit: 1}
	var lists errgroup.Group
	for _, namespace := range namespaces {
		for kind, list := range map[string]func() error{
			"services": func() error {
				_, err := client.CoreV1().Services(namespace).List(ctx, one)
				return err
			},
			"endpointslices": func() error {
				_, err := client.DiscoveryV1().EndpointSlices(namespace).List(ctx, one)
				return err
			},
			"ingresses": func() error {
				_, err := client.NetworkingV1().Ingresses(namespace).List(ctx, one)
				return err
			},
		} {
			lists.Go(func() error {
				err := list()
				switch {
				case err != nil && ctx.Err() != nil:
					return fmt.Errorf("list %s: %w", kind, context.Cause(ctx))
				case err != nil:
					return fmt.Errorf("list %s: %w", kind, err)
				}
				return nil
			})
		}
	}
	return lists.Wait()
}

// add makes an informer send its events.
func add(ctx context.Context, informer cache.SharedIndexInformer, to chan<- Event, ended cache.WatchErrorHandlerWithContext) (cache.InformerSynced, error) {
	send := func(e Event) {
		if unknown, ok := e.Object.(cache.DeletedFinalStateUnknown); ok {
			e.Object = unknown.Obj
		}
		e.At = time.Now()
		select {
		case to <- e:
		case <-ctx.Done():
		}
	}
	if err := informer.SetWatchErrorHandlerWithContext(ended); err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { send(Event{Object: object, New: true}) },
		UpdateFunc: func(_, object any) { send(Event{Object: object}) },
		DeleteFunc: func(object any) { send(Event{Object: object, Gone: true}) },
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}

// ReadInitialState passes on the initial state. Later events are changes.
func (f *Follower) ReadInitialState(ctx context.Context, see func(Event)) error {
	ctx, stop := context.WithTimeoutCause(ctx, readPatience, fmt.Errorf("timed out after %v", readPatience))
	defer stop()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	var last error
	for {
		select {
		case e := <-f.Events:
			see(e)
		case last = <-f.Outages:
		case <-ctx.Done():
			if last != nil {
				return fmt.Errorf("%w: %w", context.Cause(ctx), last)
			}
			return context.Cause(ctx)
		case <-ticker.C:
			if f.allSynced() && len(f.Events) == 0 {
				return nil
			}
		}
	}
}

func (f *Follower) allSynced() bool {
	for _, synced := range f.synced {
		if !synced() {
			return false
		}
	}
	return true
}
