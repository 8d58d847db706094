package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

const (
	// startPatience is how long a controller may take to become healthy.
	startPatience = time.Minute
	// stopPatience is how long a controller may take to end by itself.
	stopPatience = 20 * time.Second
	// keptRecords is how many of the requests that pods receive are kept until they are read.
	keptRecords = 4096
)

// installation is a running controller with its cluster.
type installation struct {
	instance driver.Instance
	shared   driver.Shared // nil: the installation is the run's own
	client   driver.Objects
	class    string         // of ingresses that name none
	workers  *probe.Workers // nil: they cannot be seen
	dir      string
	file     *os.File // of the log
	log      *event.Log
	whys     whys
	cancel   context.CancelFunc // ends the probes
	// reloadsAlways says that changes of endpoints also need a reload, so that reloads say nothing
	// about a change.
	reloadsAlways bool
	turn          int               // the number of the sentinel's current pod
	moves         int               // how often the sentinel's host changed
	adapter       string            // of the controller; empty: the default
	flags         map[string]string // of the controller
	patience      time.Duration     // how long the controller may take to serve a change
	steady        int               // how many new connections in a row must show that a change is live

	proven    bool                 // it has served a change
	started   map[string]int       // how many pods were started, by service
	configMap types.NamespacedName // the controller's; without a name, it must not be changed
	base      map[string]string    // its data before the first case
	syslog    *syslogServer        // nil unless nginx logs to syslog
	seen      int                  // the last record of the fleet that was read
	config    map[string]string    // the ConfigMap's data now
	ipv6      bool                 // whether nginx listens on IPv6 as well, where the driver restricts it to IPv4

	served func(*behave.Case, []byte) // see Options
}

// open starts a controller, with the ConfigMap that its driver gives it.
func open(ctx context.Context, d driver.Driver, s subject.Subject, configMap types.NamespacedName, dir string) (_ *installation, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	var hook *admissionregistrationv1.ValidatingWebhookConfiguration
	if s.Flags, hook, err = withWebhook(s.Flags, dir); err != nil {
		return nil, err
	}
	file, err := os.Create(filepath.Join(dir, "events.jsonl"))
	if err != nil {
		return nil, err
	}
	log := event.NewLog(file, time.Now())
	instance, err := d.Prepare(ctx, s, driver.Options{Dir: dir, Log: log})
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	i := &installation{instance: instance, dir: dir, file: file, log: log, cancel: func() {}, started: map[string]int{}, configMap: configMap, adapter: s.Adapter, flags: s.Flags, reloadsAlways: s.Flags["dynamic-configuration"] == "false",
		class: corpus.IngressClass, patience: livePatience, steady: steady}
	log.Tap(i.whys.see)
	defer func() {
		if err != nil {
			err = errors.Join(err, i.close(ctx))
		}
	}()
	if fleet, ok := instance.Pods().(backend.ScriptedFleet); ok {
		fleet.Record(keptRecords)
	}
	if err = i.prepare(ctx); err != nil {
		return nil, err
	}
	starting, started := context.WithTimeoutCause(ctx, startPatience, fmt.Errorf("timed out after %v", startPatience))
	defer started()
	if err = instance.Launch(starting); err != nil {
		return nil, err
	}
	if hook != nil {
		if err = i.put(ctx, hook); err != nil {
			return nil, err
		}
	}
	if err = i.readConfig(ctx); err != nil {
		return nil, err
	}
	if i.shared == nil {
		watching, cancel := context.WithCancel(ctx)
		i.cancel = cancel
		i.workers = probe.WatchWorkers(watching, log, s.Name, instance.Setup().Processes, instance.Master)
	}
	return i, nil
}

// prepare creates what must be there before the controller starts: the sentinel, and the objects that
// the controller's flags require.
func (i *installation) prepare(ctx context.Context) (err error) {
	if shared, ok := i.instance.(driver.Shared); ok {
		i.share(shared)
		return i.createSharedSentinel(ctx)
	}
	api := rest.CopyConfig(i.instance.API())
	api.WarningHandler = rest.NoWarnings{} // those of the controller's webhook
	client, err := cluster.New(api)
	if err != nil {
		return err
	}
	i.client = driver.Routed(client, i.instance)
	if err = i.createSentinel(ctx); err != nil {
		return err
	}
	return i.put(ctx, requiredBy(i.flags)...)
}

// close ends the controller and everything that belongs to it.
func (i *installation) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	i.cancel()
	if i.workers != nil {
		<-i.workers.Done()
	}
	return errors.Join(i.instance.Stop(ctx), i.syslog.close(), i.log.Close(), i.file.Close())
}

// put creates or replaces objects, in the given order.
func (i *installation) put(ctx context.Context, objects ...runtime.Object) error {
	for _, typed := range objects {
		object, err := cluster.Object(typed)
		if err != nil {
			return err
		}
		if _, err := i.client.Put(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// ended reports whether the controller has ended by itself.
func (i *installation) ended() bool {
	select {
	case <-i.instance.Died():
		return true
	default:
		return false
	}
}

// generation returns the generation of the workers that accept connections; 0 if they cannot be seen.
func (i *installation) generation() int {
	if i.workers == nil {
		return 0
	}
	newest := 0
	for _, worker := range i.workers.Alive() {
		newest = max(newest, worker.Generation)
	}
	return newest
}

// nginxConf is the path of nginx's configuration.
const nginxConf = "/etc/nginx/nginx.conf"

// show calls Options.Served with the current nginx.conf.
func (i *installation) show(c *behave.Case) error {
	files, ok := i.instance.(driver.Files)
	if i.served == nil || !ok || files.FileRoot() == "" {
		return nil
	}
	conf, err := os.ReadFile(filepath.Join(files.FileRoot(), nginxConf))
	if err == nil {
		i.served(c, conf)
	}
	return err
}
