// Package controllers are the controllers that every cluster has, and a stand-in
// for its nodes, as far as what they do can be seen in the API. They stand between a
// user's Deployments and Services and the EndpointSlices that an ingress
// controller reads. Their one rule: they know the API server as any client does,
// and each is its own, one file, to be left out at will.
package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// Options say what the stand-in for the nodes does. The zero value is a node on
// which pods are ready, and gone, at once.
type Options struct {
	Nodes      []string                                   // registered at start; nil is one, called windtunnel
	Zone       func(node string) string                   // of a node, nil for none
	Address    func(pod *corev1.Pod) (string, error)      // of a pod that starts, perhaps asked for again; nil counts through 10.244.0.0/16
	ReadyAfter time.Duration                              // from start to ready
	StopAfter  time.Duration                              // from deletion to gone, at most the pod's grace period
	Stop       func(ctx context.Context, pod *corev1.Pod) // instead of StopAfter: returns when the pod has stopped; ctx ends with the grace period
}

// table is every controller, by name.
var table = []struct {
	name  string
	build func(*cluster) (*loop, error)
}{
	{"deployment", newDeployment},
	{"replicaset", newReplicaSet},
	{"scheduler", newScheduler},
	{"kubelet", newKubelet},
	{"endpointslice", newEndpointSlice},
	{"namespace", newNamespace},
	{"garbage", newGarbage},
}

// Names are those of all controllers, in the order in which work flows.
func Names() []string {
	var names []string
	for _, c := range table {
		names = append(names, c.name)
	}
	return names
}

// Check says which of the names is not a controller's.
func Check(names []string) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("no controller is called %q; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// cluster is what controllers share.
type cluster struct {
	opts      Options
	client    kubernetes.Interface
	metadata  metadata.Interface
	events    record.EventRecorder
	informers informers.SharedInformerFactory
}

// Running are controllers at work.
type Running struct {
	stop context.CancelFunc
	wait sync.WaitGroup
}

// Stop ends them and waits until they have ended.
func (r *Running) Stop() {
	r.stop()
	r.wait.Wait()
}

// Start runs the named controllers, none named is all, until ctx is done or
// Stop. It returns when they have seen what is there.
func Start(ctx context.Context, config *rest.Config, opts Options, names ...string) (*Running, error) {
	if err := Check(names); err != nil {
		return nil, err
	}
	c, err := newCluster(config, opts)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	c.recordEvents(ctx)
	r := &Running{stop: stop}
	var loops []*loop
	for _, controller := range table {
		if len(names) > 0 && !slices.Contains(names, controller.name) {
			continue
		}
		l, err := controller.build(c)
		if err != nil {
			stop()
			return nil, fmt.Errorf("starting controller %s: %w", controller.name, err)
		}
		l.name = controller.name
		loops = append(loops, l)
	}
	c.informers.StartWithContext(ctx)
	for _, l := range loops {
		if l.start != nil {
			if err := l.start(ctx); err != nil {
				stop()
				return nil, fmt.Errorf("starting controller %s: %w", l.name, err)
			}
		}
	}
	r.wait.Go(func() { <-ctx.Done(); c.informers.Shutdown() })
	for kind, synced := range c.informers.WaitForCacheSync(ctx.Done()) {
		if !synced {
			r.Stop()
			return nil, fmt.Errorf("reading all %v: %w", kind, context.Cause(ctx))
		}
	}
	for _, l := range loops {
		r.wait.Go(func() { l.run(ctx) })
	}
	return r, nil
}

func newCluster(config *rest.Config, opts Options) (*cluster, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "windtunnel-controllers")
	config.QPS = -1 // they are part of the simulation, not a client to be slowed
	config.ContentType = "application/vnd.kubernetes.protobuf"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	objects, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the API server: %w", err)
	}
	if opts.Nodes == nil {
		opts.Nodes = []string{"windtunnel"}
	}
	return &cluster{opts: opts, client: client, metadata: objects, informers: informers.NewSharedInformerFactory(client, 0)}, nil
}
