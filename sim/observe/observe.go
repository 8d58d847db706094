// Package observe watches a running ingress-nginx, or a fork of it, in a user's cluster, and writes the
// event log of a run. Its one rule: it only reads, and sends requests only to the hosts that the user
// names; it reports what it cannot see.
package observe

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/follow"
	"windtunnel.dev/sim/observe/notice"
	"windtunnel.dev/sim/permission"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/traffic"
)

// Options are the options of an observation.
type Options struct {
	API *rest.Config
	// Namespace and Selector select the pods of controllers.
	Namespace, Selector string
	// Follow are the namespaces whose changes count; nil means all. Class is the class of the ingresses
	// that count; "" means all.
	Follow []string
	Class  string
	// MetricsURLs are the metrics endpoints of controllers, instead of those of pods.
	MetricsURLs []string
	// MetricsPort and StatusPort are the controller's --healthz-port and --status-port; 0: as its
	// arguments say, or the defaults.
	MetricsPort, StatusPort int
	Every                   time.Duration // between two scrapes of a controller
	// HTTP and HTTPS are the addresses for requests to hosts.
	HTTP, HTTPS netip.AddrPort
	Hosts       []notice.Host
	PodHeader   string   // the response header with the name of the pod that answered
	Lanes       []string // of the requests
	Rate        float64  // requests per second and lane; 0: none
	ProbeRate   float64  // requests per second while a change is open; 0: none
	Length      time.Duration
	Settle      time.Duration // how long to wait, at most, until the last changes are served
	// Ephemeral is the image of an ephemeral container that observes the processes; "" for none.
	Ephemeral string
	Bundled   bool // the controller is that of this project
	Dir       string
	Started   func(Sight)    // called once, when the observation begins; may be nil
	Progress  func(Progress) // called repeatedly during the observation; may be nil
}

// subjectName is the name of the only subject of an observation.
const subjectName = "observed"

// observation is one call of Observe.
type observation struct {
	Options
	client      kubernetes.Interface
	log         *event.Log
	start       time.Time
	ledger      *notice.Ledger
	cluster     *follow.Follower
	controllers *controllers
	canary      *probe.Canary
	sight       Sight
	missing     []string      // those of Follow that do not exist
	length      time.Duration // of the observation, once it has ended
}

// Observe observes until ctx ends, or for Length, and returns the folder with its log and its reports. An
// error without a folder means that there is nothing to observe.
func Observe(ctx context.Context, o Options) (rundir.Dir, rundir.Measured, error) {
	ob := &observation{Options: o, start: time.Now()}
	o.API = rest.AddUserAgent(rest.CopyConfig(o.API), "windtunnel-observe")
	var err error
	if ob.client, err = kubernetes.NewForConfig(o.API); err != nil {
		return "", rundir.Measured{}, err
	}
	ob.API = o.API
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	if err := ob.prepare(ctx, following); err != nil {
		return "", rundir.Measured{}, err
	}
	made, _ := ob.scenario()
	dir, err := rundir.Create(o.Dir, made, true)
	if err != nil {
		return "", rundir.Measured{}, err
	}
	if err := ob.record(ctx, following, dir); err != nil {
		return dir, rundir.Measured{}, err
	}
	made, left := ob.scenario()
	if len(left) > 0 {
		made.Summary += fmt.Sprintf(" Not included, because scenarios have no such changes: %v.", left)
	}
	if err := rundir.WriteFile(dir.File(rundir.Scenario), func(w io.Writer) error {
		text, err := made.Marshal()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}); err != nil {
		return dir, rundir.Measured{}, err
	}
	measured, err := dir.Measure(made)
	return dir, measured, err
}

// prepare finds the controllers, reads the cluster, and finds out what can be seen.
func (ob *observation) prepare(ctx, following context.Context) error {
	var err error
	// A permission that cannot be checked is noticed when a request is refused.
	ob.sight.forbidden, _ = permission.Missing(ctx, ob.client, ob.permissions())
	if ob.controllers, err = ob.findControllers(ctx); err != nil {
		return err
	}
	ob.controllers.first(ctx)
	ob.ledger = notice.NewLedger(ob.Class, ob.Hosts)
	if ob.cluster, err = ob.follow(ctx, following); err != nil {
		return err
	}
	if err := ob.identify(ctx); err != nil {
		return err
	}
	ob.missing = follow.MissingNamespaces(ctx, ob.client, ob.Follow)
	ob.look()
	return ob.anythingSeen()
}

// record writes the log of the observation.
func (ob *observation) record(ctx, following context.Context, dir rundir.Dir) error {
	file, err := createLog(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	ob.log = event.NewLog(file, ob.start)
	seen := &progress{}
	ob.log.Tap(seen.see)
	ob.header()
	acting, stop := context.WithCancel(following)
	defer stop()
	var running sync.WaitGroup
	host := probe.WatchHost(acting, ob.log)
	ob.startCanary(acting)
	ob.controllers.begin(acting, ob, &running)
	ob.phase(event.RoundBegin)
	began := time.Now()
	if len(ob.missing) > 0 {
		ob.trouble(ob.missingNamespaces(), "")
	}
	if ob.Started != nil {
		ob.Started(ob.sight)
	}
	if ob.Progress != nil {
		running.Go(func() { ob.reportProgress(acting, seen) })
	}
	failures := ob.send(acting, &running)
	failed := ob.watch(ctx, failures)
	ob.length = time.Since(began)
	ob.phase(event.ChurnEnd)
	ob.settle(failed)
	if why := ob.cluster.Unreadable(); why != nil {
		ob.log.Write(event.Event{At: ob.log.Now(), Subject: subjectName, Missing: &event.Missing{What: "last changes", Why: why.Error()}})
	}
	ob.controllers.scrape(context.WithoutCancel(ctx), ob)
	ob.phase(event.RoundEnd)
	stop()
	running.Wait()
	<-host
	if ob.canary != nil {
		<-ob.canary.Done()
	}
	ob.phase(event.Stopped)
	if err := ob.log.Close(); err != nil {
		return err
	}
	return failed
}

// settle waits until the last changes are served, at most for Settle.
func (ob *observation) settle(failed error) {
	if failed != nil || ob.canary == nil {
		return
	}
	for deadline := time.Now().Add(ob.Settle); ob.canary.Pending() > 0 && time.Now().Before(deadline); {
		time.Sleep(50 * time.Millisecond)
	}
}

func (ob *observation) header() {
	environment := ob.environment()
	ob.log.Write(event.Event{Run: &event.Run{
		Schema: event.Schema, Scenario: "observed", Summary: "Changes and requests in a live cluster.", Driver: "observe",
		Start: ob.start, Subjects: []string{subjectName}, Environment: environment, Granularity: time.Second,
	}})
	for _, blind := range ob.sight.NotApplicable {
		ob.log.Write(event.Event{At: ob.log.Now(), Subject: subjectName, NotApplicable: &blind})
	}
	ob.phase(event.Ready)
}

func (ob *observation) phase(name event.PhaseName) {
	round := 0
	if name != event.Ready && name != event.Stopped {
		round = 1
	}
	ob.log.Write(event.Event{At: ob.log.Now(), Subject: subjectName, Phase: &event.Phase{Name: name, Round: round}})
}

func (ob *observation) trouble(what, detail string) {
	ob.log.Trouble(subjectName, what, detail)
}

func (ob *observation) scenario() (*scenario.Scenario, map[string]int) {
	seen := notice.Seen{
		Name: subjectName, Controller: ob.controllers.scenarioController(ob.Bundled), Flags: ob.controllers.flags(),
		Size: ob.ledger.Size(), Steps: ob.ledger.Steps(), Length: ob.length.Round(time.Second),
	}
	if ob.Rate > 0 && len(ob.Hosts) > 0 {
		seen.Lanes = map[string]float64{}
		for _, lane := range ob.Lanes {
			seen.Lanes[lane] = ob.Rate
		}
	}
	return notice.Scenario(seen)
}

// send starts the lanes, and returns a channel of their errors.
func (ob *observation) send(ctx context.Context, running *sync.WaitGroup) <-chan error {
	failures := make(chan error, len(ob.Lanes))
	if ob.Rate == 0 || len(ob.Hosts) == 0 {
		return failures
	}
	for i, lane := range ob.Lanes {
		seed := uint64(i + 1)
		attack := traffic.Attack{
			Lane: lane, Rate: traffic.Arrivals{Rate: ob.Rate}.Pacer(seed), To: cmp.Or(ob.HTTP, ob.HTTPS), TLS: ob.HTTPS, Targets: ob.targets(),
			Seed: seed, Subject: subjectName, Log: ob.log,
		}
		running.Go(func() {
			if err := traffic.Run(ctx, attack); err != nil {
				failures <- fmt.Errorf("lane %s: %w", lane, err)
			}
		})
	}
	return failures
}
