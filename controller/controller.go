// Package controller is ingress-nginx, the clean version. It stands between
// the cluster and nginx, and calls the stages in their order: watch says that
// something changed, snapshot, model.Build, plan.Next and plan.Diff,
// apply. Its one rule: the order is here and nowhere else, the work is in the
// stages.
package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/chain"
	"windtunnel.dev/controller/health"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/watch"
)

// controller is a running one.
type controller struct {
	Config
	store    *watch.Store
	target   *apply.Target
	input    atomic.Pointer[render.Input] // but for what the ConfigMap says; only syncs store
	models   model.Memo
	states   plan.Memo
	reads    *reading
	limit    *rate.Limiter
	events   record.EventRecorder
	known    map[string]bool // findings of the last sync
	observed *model.Model    // whose hosts and certificates the metrics have; nil: others, too
	tracing  tracing

	withheld withheld
	queue    *watch.Queue
	chains   *chain.Completer // nil: certificates are served as they are

	filesChanged atomic.Bool       // those that watchFiles follows
	templateSeen string            // the user's template when it was looked at last, or why it could not be read
	databases    map[string]string // of addresses, as they are now; see plan.State.Foreign

	held     atomic.Bool // a reload waits for old workers to end
	first    sync.Once   // the first sync that succeeded
	ready    atomic.Bool // what it brought is in every worker
	stopping atomic.Bool

	complaints map[apply.Complaint]bool // of nginx, about what it has not taken since
}

// Run runs the controller and its nginx until ctx is done, then ends nginx
// gracefully: its workers finish their requests until hurry is done. It
// returns when no process is left. An error is one of the start, or nginx not
// having ended by itself.
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

	var store *watch.Store
	ingresses := judge{configMap: func() *corev1.ConfigMap { return store.ConfigMap(config.ConfigMap) }, flags: config.Options}
	config.Watch.Check = ingresses.check
	reads := new(reading)
	config.Watch.Reads, config.Watch.ReadsSecret = reads.has, reads.hasSecret
	store = watch.New(config.Client, config.Watch, events, config.Log)
	c := &controller{
		Config: config,
		reads:  reads,
		store:  store,
		limit:  rate.NewLimiter(rate.Limit(config.SyncRate), 1),
		events: events,
	}
	c.withheld.budget = quarantine.NewBudget()
	c.withheld.ConfigMap, c.withheld.Prefix = config.ConfigMap, config.Options.AnnotationsPrefix
	c.complaints = make(map[apply.Complaint]bool)
	c.input.Store(&input)
	if input.Template != nil {
		c.templateSeen = input.Template.Text()
	}
	c.queue = watch.NewQueue(c.sync)
	if config.CompleteChains {
		c.chains = chain.New(func() { c.queue.Force("certificate-chain") }, avoidDoors(config.Options.Ports))
	}
	secret, err := makeSecret(config.Lua, layout(config))
	if err != nil {
		return err
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
		Complain:   c.tellComplaint,

		Passthrough: listener(config),
	})
	if err := c.proveTemplate(ctx); ctx.Err() != nil {
		return nil //nolint:nilerr // asked to end before the start was complete
	} else if err != nil {
		return err
	}
	server := &http.Server{Handler: health.Handler(config.HealthPath, c.check, config.Metrics.Handler()), ReadHeaderTimeout: 5 * time.Second}
	go server.Serve(config.Health) // ends with Close
	defer server.Close()
	config.Metrics.Nginx(c.target.StatusURL(), c.target.Processes)
	if config.Requests != nil {
		defer config.Requests.Close()
		go config.Metrics.Receive(config.Requests, config.Log)
	}

	// The work goes on through the grace period, after ctx has ended.
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

// work follows the cluster and syncs until ctx is done. When nginx ends by
// itself, it stops to sync but does not return: the kubelet's probe will see.
func (c *controller) work(ctx context.Context) error {
	if err := c.store.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	wait := c.beside(ctx)
	defer wait()
	syncing, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-c.target.Ended():
			if ctx.Err() == nil {
				c.Log.Error("nginx ended by itself; it is not started again, /healthz says so")
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

// sync brings nginx to what the cluster says now.
func (c *controller) sync(ctx context.Context) error {
	if c.limit.Wait(ctx) != nil {
		return nil //nolint:nilerr // shutting down is no failure of the sync
	}
	change := c.store.Changes().Newest()
	cluster := c.store.Snapshot()
	c.readFiles(ctx, cluster)
	c.follow(cluster)
	err := c.bring(ctx, cluster, change)
	refusal := new(apply.Refusal)
	refused := errors.As(err, &refusal)
	if refused {
		c.withheld.Suspect(cluster, refusal.Unwrap().Error())
	}
	if err == nil || refused || c.withheld.Frozen() != nil {
		if settled, hopeless := c.try(ctx, cluster, change); hopeless != nil {
			err = hopeless
		} else if settled || refused {
			err = c.bring(ctx, cluster, change)
		}
	}
	c.tryAgain()
	if err == nil {
		c.first.Do(func() { go c.becomeReady(ctx) })
	}
	return err
}

// bring brings nginx to what a cluster says, but for what it refuses. change is
// the newest in it.
func (c *controller) bring(ctx context.Context, cluster snapshot.Snapshot, change uint64) error {
	done := pass{began: time.Now(), change: change}
	cluster, chainFindings := c.completeChains(ctx, cluster)
	cluster, refused := c.withheld.Serve(cluster)
	opts, optionFindings := c.options(cluster)
	wanted, modelFindings := c.models.Build(cluster, opts)
	c.reads.follow(wanted, cluster, c.store)
	input := *c.input.Load()
	input.Options = opts
	c.tellFindings(cluster, findings{
		ofOptions: optionFindings,
		ofRefused: refused,
		ofModel:   slices.Concat(chainFindings, modelFindings, render.Findings(wanted, input), expiring(wanted, done.began)),
	})

	rendering := time.Now()
	next, err := c.states.Next(wanted, input)
	rendered := time.Since(rendering)
	if err == nil {
		c.willServe(wanted)
		if opts.Config.GeoIP2AutoReloadMinutes == 0 { // else nginx looks itself
			next = next.With(c.databases)
		}
		done.steps, done.held = c.steps(next, opts)
		done.report, err = c.do(ctx, done.steps, next)
	}
	done.report.Phases.Render = rendered
	done.partial = len(refused) > 0
	done.err = err
	c.tell(done)
	c.settle(done.report.Posts)
	if err == nil && !done.held {
		c.withheld.Took(cluster)
		c.serves(wanted)
	}
	return err
}

// options are the flags' options with what the ConfigMap says now.
func (c *controller) options(cluster snapshot.Snapshot) (options.Options, []options.Finding) {
	opts, findings := withConfigMap(c.Options, cluster.ConfigMaps[c.ConfigMap])
	return opts, append(findings, c.tracing.place(&opts, c.Options.Config)...)
}

// quit ends nginx and waits as long as ingress-nginx does, for load balancers
// to notice.
func (c *controller) quit(hurry context.Context) error {
	c.Log.Info("quitting nginx")
	if err := c.target.Quit(hurry); err != nil {
		return fmt.Errorf("ending nginx: %w", err)
	}
	pause(hurry, c.PostShutdownGrace)
	return nil
}

// pause waits for d or until ctx is done.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
