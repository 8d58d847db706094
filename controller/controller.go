// Package controller is a reimplementation of ingress-nginx. It stands between the cluster and
// nginx. When watch reports a change, it runs the stages in this order: snapshot, chain,
// quarantine, compile, plan.Diff, apply, observe. Its one rule: only this package knows the order;
// the stages do the work.
package controller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/announce"
	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/chain"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/health"
	"windtunnel.dev/controller/observe"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/watch"
)

// controller is a controller and its nginx.
type controller struct {
	Config
	store    *watch.Store
	queue    *watch.Queue
	limit    *rate.Limiter
	reloads  *reloadLimit
	chains   *chain.Completer // nil: certificates are served as they are
	input    input
	compiler compile.Compiler
	reads    *modelInputs
	target   *apply.Target
	observer observe.Observer

	quarantine quarantine.Quarantine
	nextSearch *time.Timer // requests the sync that continues the search

	held     atomic.Bool // a reload waits for the end of old workers
	first    sync.Once   // the first successful sync
	ready    atomic.Bool // all workers have their configuration
	stopping atomic.Bool
}

// Run runs the controller and its nginx until ctx is done. Then it shuts nginx down gracefully: the
// workers may finish their requests until hurry is done. It returns when no nginx process is left.
// It returns an error if the start fails, or if nginx had to be terminated.
func Run(ctx, hurry context.Context, config Config) error {
	defer config.Claim.Close()
	defer config.Health.Close()
	input, err := prepare(&config)
	if err != nil {
		return err
	}
	broadcaster := record.NewBroadcaster()
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: config.Client.CoreV1().Events("")})
	events := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "nginx-ingress-controller"})
	announcer, err := openAnnouncer(config)
	if err != nil {
		return err
	}
	defer announcer.Close()
	c, err := assemble(config, input, events, announcer)
	if err != nil {
		return err
	}
	if err := c.testTemplate(ctx); ctx.Err() != nil {
		return nil //nolint:nilerr // shut down before the start was complete
	} else if err != nil {
		return err
	}
	server := &http.Server{Handler: health.Handler(config.Options.Healthz(), c.healthy, config.Metrics.Handler()), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(config.Health) // ends with Close
	defer server.Close()
	config.Metrics.Nginx(c.target.StatusURL(), c.target.DictionariesURL(), c.target.Processes)
	if config.Requests != nil {
		defer config.Requests.Close()
		go config.Metrics.Receive(config.Requests, config.Log)
	}

	// Syncs continue during the grace period, after ctx is done.
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	worked := make(chan error, 1)
	go func() { worked <- c.work(working) }()
	select {
	case <-ctx.Done():
		c.stopping.Store(true)
		pause(hurry, c.ShutdownGrace)
		stop()
		err = <-worked
	case err = <-worked:
	}
	return errors.Join(err, c.quit(hurry))
}

// openAnnouncer opens the announcements socket. It returns nil if workers poll for new backends.
func openAnnouncer(config Config) (*announce.Announcer, error) {
	if !config.Options.BackendsPush {
		return nil, nil
	}
	return announce.Open(config.Options.Path(options.AnnouncementsSocket), config.Log)
}

// assemble returns a controller that is not running yet.
func assemble(config Config, in compile.Input, events record.EventRecorder, announcer *announce.Announcer) (*controller, error) {
	secret, err := makeSecret(config.Lua, layout(config))
	if err != nil {
		return nil, err
	}
	syncs := cmp.Or(config.DynamicSyncRate, config.SyncRate)
	c := &controller{
		Config:  config,
		reads:   new(modelInputs),
		limit:   rate.NewLimiter(rate.Limit(syncs), 1),
		reloads: newReloadLimit(config.SyncRate, syncs),
		observer: observe.Observer{
			Log: config.Log, Events: events, Metrics: config.Metrics,
			Pod: config.Pod, ConfigMap: config.ConfigMap, ServedMetrics: config.Options.EnableMetrics,
		},
		quarantine: quarantine.Quarantine{ConfigMap: config.ConfigMap, Prefix: config.Options.AnnotationsPrefix},
	}
	c.queue = watch.NewQueue(c.sync)
	c.input.Store(&in)
	if in.Template != nil {
		c.input.templateSeen = in.Template.Text()
	}
	ingresses := judge{configMap: func() *corev1.ConfigMap { return c.store.ConfigMap(config.ConfigMap) }, input: in}
	c.Watch.Accept = ingresses.accept
	c.Watch.Reads, c.Watch.ReadsSecret = c.reads.has, c.reads.hasSecret
	c.store = watch.New(config.Client, c.Watch, events, config.Log)
	if config.CompleteChains {
		c.chains = chain.New(func() { c.queue.Force("certificate-chain") }, avoidProtectedPorts(config.Options.Ports))
	}
	c.target = apply.New(apply.Options{
		Nginx:      config.Nginx,
		Layout:     layout(config),
		StatusPort: config.Options.Ports.Status,
		StreamPort: config.Options.Ports.Stream,
		Retry:      config.Retry,
		Secret:     secret,
		Stderr:     config.Stderr,
		Drained:    c.oldWorkersGone,
		Complain:   c.observer.Complaint,

		Passthrough: listener(config),
		Announcer:   announcer,
	})
	return c, nil
}

// work follows the cluster and syncs until ctx is done. If nginx ends unexpectedly, work stops
// syncing but does not return: the kubelet's probe fails and restarts the container.
func (c *controller) work(ctx context.Context) error {
	if err := c.store.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	wait := c.startBackground(ctx)
	defer wait()
	syncing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.target.Ended():
			if ctx.Err() == nil {
				c.Log.Error("nginx ended unexpectedly; it is not restarted, and /healthz fails")
			}
			stop()
		case <-ctx.Done():
		}
	}()
	c.watchFiles(syncing)
	c.queue.Force("initial-sync")
	go c.store.Changes().Each(func(change watch.Change) {
		if change.Always {
			c.queue.Force(change.What)
		} else {
			c.queue.Add(change.What)
		}
	})
	go c.sweep(syncing)
	c.queue.Run(syncing)
	<-ctx.Done()
	return nil
}

// quit ends nginx. Then it waits as long as ingress-nginx does, so load balancers stop sending
// requests.
func (c *controller) quit(hurry context.Context) error {
	c.Log.Info("quitting nginx")
	if err := c.target.Quit(hurry); err != nil {
		return fmt.Errorf("ending nginx: %w", err)
	}
	pause(hurry, c.PostShutdownGrace)
	return nil
}

// pause waits for d to pass or ctx to be done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
