// Package controllers contains the controllers that every cluster has, and a stand-in for its
// nodes. It covers their effects that clients can see in the API. It stands between a user's Deployments
// and Services and the EndpointSlices that an ingress controller reads. Its one rule: each
// controller uses the API server like any other client, has a file of its own, and can be left out.
package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// Options configure the stand-in for the nodes. With the zero value there is one node. Its pods
// become ready at once, and disappear as soon as they are deleted.
type Options struct {
	Nodes      []string                                   // registered at start; nil means one node with the name windtunnel
	Zone       func(node string) string                   // returns the zone of a node; nil means no zones
	Address    func(pod *corev1.Pod) (string, error)      // returns the address of a starting pod and may be called more than once for a pod; nil counts through 10.244.0.0/16
	RootCA     []byte                                     // certificate of the API server's CA, in PEM; nil means that of the connection; over plain HTTP there is none
	ReadyAfter time.Duration                              // time from start to ready
	StopAfter  time.Duration                              // time from deletion to removal, at most the pod's grace period
	Stop       func(ctx context.Context, pod *corev1.Pod) // replaces StopAfter: it returns when the pod has stopped; ctx ends with the grace period
}

// table lists all controllers by name.
var table = []struct {
	name  string
	build func(*cluster) (*loop, error)
}{
	{"deployment", newDeployment},
	{"replicaset", newReplicaSet},
	{"statefulset", newStatefulSet},
	{"daemonset", newDaemonSet},
	{"cronjob", newCronJob},
	{"job", newJob},
	{"scheduler", newScheduler},
	{"kubelet", newKubelet},
	{"endpointslice", newEndpointSlice},
	{"endpoints", newEndpoints},
	{"disruption", newDisruption},
	{"autoscaler", newAutoscaler},
	{"serviceaccount", newServiceAccount},
	{"rootca", newRootCA},
	{"namespace", newNamespace},
	{"garbage", newGarbage},
}

// Names returns the names of all controllers, in the order in which work passes through them.
func Names() []string {
	var names []string
	for _, c := range table {
		names = append(names, c.name)
	}
	return names
}

// Check returns an error if one of the names is not the name of a controller.
func Check(names []string) error {
	for _, name := range names {
		if !slices.Contains(Names(), name) {
			return fmt.Errorf("no controller is called %q; there are %s", name, strings.Join(Names(), ", "))
		}
	}
	return nil
}

// cluster holds the options, clients and caches that the controllers share.
type cluster struct {
	opts       Options
	config     *rest.Config
	client     kubernetes.Interface
	metadata   metadata.Interface
	events     record.EventRecorder
	informers  informers.SharedInformerFactory
	filtered   []informers.SharedInformerFactory // of objects with one name
	podWatches []podWatch
}

// named returns a factory whose informers read only the objects with this name.
func (c *cluster) named(name string) informers.SharedInformerFactory {
	f := informers.NewSharedInformerFactoryWithOptions(c.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) {
		o.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, name).String()
	}))
	c.filtered = append(c.filtered, f)
	return f
}

func (c *cluster) factories() []informers.SharedInformerFactory {
	return append([]informers.SharedInformerFactory{c.informers}, c.filtered...)
}

// waitForSync returns when the caches of all informers have synced.
func (c *cluster) waitForSync(ctx context.Context) error {
	for _, f := range c.factories() {
		for kind, synced := range f.WaitForCacheSync(ctx.Done()) {
			if !synced {
				return fmt.Errorf("reading all %v: %w", kind, context.Cause(ctx))
			}
		}
	}
	return nil
}

// Running is a set of running controllers.
type Running struct {
	stop context.CancelFunc
	wait sync.WaitGroup
}

// Stop stops the controllers and waits until they have returned.
func (r *Running) Stop() {
	r.stop()
	r.wait.Wait()
}

// Start runs the named controllers, or all of them without names, until ctx is done or Stop is
// called. It returns when their caches have synced.
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
	for _, f := range c.factories() {
		f.StartWithContext(ctx)
	}
	for _, l := range loops {
		if l.start != nil {
			if err := l.start(ctx); err != nil {
				stop()
				return nil, fmt.Errorf("starting controller %s: %w", l.name, err)
			}
		}
	}
	for _, f := range c.factories() {
		r.wait.Go(func() { <-ctx.Done(); f.Shutdown() })
	}
	if err := c.waitForSync(ctx); err != nil {
		r.Stop()
		return nil, err
	}
	for _, l := range loops {
		r.wait.Go(func() { l.run(ctx) })
	}
	return r, nil
}

func newCluster(config *rest.Config, opts Options) (*cluster, error) {
	config = rest.AddUserAgent(rest.CopyConfig(config), "windtunnel-controllers")
	config.QPS = -1 // no rate limit, because the controllers are part of the simulation
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
	return &cluster{opts: opts, config: config, client: client, metadata: objects, informers: informers.NewSharedInformerFactory(client, 0)}, nil
}
