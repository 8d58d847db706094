package observe

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"windtunnel.dev/sim/rundir"
)

// told is an object as the API told it.
type told struct {
	object any
	gone   bool
	at     time.Time
}

// follower follows the objects of the cluster.
type follower struct {
	events   chan told
	troubles chan string
}

// readPatience is how long the API may take to tell the initial state.
const readPatience = 2 * time.Minute

// follow reads the services, endpoints and ingresses, and follows them from then on.
func (ob *observation) follow(ctx, following context.Context) (*follower, error) {
	f := &follower{events: make(chan told, 4096), troubles: make(chan string, 16)}
	namespaces := ob.Follow
	if len(namespaces) == 0 {
		namespaces = []string{""}
	}
	var synced []cache.InformerSynced
	for _, namespace := range namespaces {
		factory := informers.NewSharedInformerFactoryWithOptions(ob.client, 0, informers.WithNamespace(namespace))
		for kind, informer := range map[string]cache.SharedIndexInformer{
			"services":       factory.Core().V1().Services().Informer(),
			"endpointslices": factory.Discovery().V1().EndpointSlices().Informer(),
			"ingresses":      factory.Networking().V1().Ingresses().Informer(),
		} {
			one, err := f.add(following, kind, informer)
			if err != nil {
				return nil, err
			}
			synced = append(synced, one)
		}
		factory.StartWithContext(following)
	}
	return f, ob.readInitialState(ctx, f, synced)
}

func (f *follower) add(following context.Context, kind string, informer cache.SharedIndexInformer) (cache.InformerSynced, error) {
	send := func(object any, gone bool) {
		if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = unknown.Obj
		}
		select {
		case f.events <- told{object, gone, time.Now()}:
		case <-following.Done():
		}
	}
	err := informer.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		select {
		case f.troubles <- fmt.Sprintf("the watch of %s ended: the next changes may be reported late: %v", kind, err):
		default:
		}
	})
	if err != nil {
		return nil, err
	}
	registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { send(object, false) },
		UpdateFunc: func(_, object any) { send(object, false) },
		DeleteFunc: func(object any) { send(object, true) },
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}

// readInitialState adds what the API tells until it has told everything once.
func (ob *observation) readInitialState(ctx context.Context, f *follower, synced []cache.InformerSynced) error {
	ctx, stop := context.WithTimeoutCause(ctx, readPatience, fmt.Errorf("timed out after %v", readPatience))
	defer stop()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	last := ""
	for {
		select {
		case t := <-f.events:
			ob.ledger.Add(t.object, t.gone, t.at)
		case last = <-f.troubles:
		case <-ctx.Done():
			return fmt.Errorf("read the services, endpoints and ingresses: %w: %s", context.Cause(ctx), last)
		case <-ticker.C:
			if allSynced(synced) && len(f.events) == 0 {
				ob.ledger.Begin()
				return nil
			}
		}
	}
}

func allSynced(all []cache.InformerSynced) bool {
	for _, synced := range all {
		if !synced() {
			return false
		}
	}
	return true
}

// createLog creates the event log in the folder of the observation.
func createLog(dir rundir.Dir) (*os.File, error) { return os.Create(dir.File(rundir.Events)) }
