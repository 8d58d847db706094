// Package checkup starts one controller alone and checks, point by point, that it does what a run
// needs, and that its adapter lets the harness observe it. Its one rule: each point says what was
// found, and a controller that lacks something is a result, not an error.
package checkup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/subject"
)

// Options say what to check.
type Options struct {
	Driver  driver.Driver
	Subject subject.Subject
	Dir     string // for logs
	// Patience is how long the controller may take for each point. 0 means one minute.
	Patience time.Duration
	// Done is called with each result. It may be nil.
	Done func(Result)
}

// Result is the result of one point.
type Result struct {
	Point string        `json:"point"`
	What  string        `json:"what"`  // what it checks
	OK    bool          `json:"ok"`    // it was found as it should be, or is not expected
	Found string        `json:"found"` // what was found, or why not
	Took  time.Duration `json:"took"`
}

// points are the points in their order. If an essential point fails, the points after it are not
// reached, except for the last ones, which end the controller.
var points = []struct {
	name, what string
	essential  bool
	last       bool
	check      func(*checkup, context.Context) (found string, err error)
}{
	{"starts", "it starts, and its health checks pass", true, false, (*checkup).starts},
	{"processes", "its master and its workers are recognised", false, false, (*checkup).processes},
	{"serves", "it serves a host that existed before it started", true, false, (*checkup).serves},
	{"connections", "the worker of a connection can be found", false, false, (*checkup).connections},
	{"follows", "it follows a change of endpoints", false, false, (*checkup).follows},
	{"new host", "it serves a host that is created later", false, false, (*checkup).newHost},
	{"status", "it writes its address to the status of ingresses or Gateways", false, false, (*checkup).status},
	{"log", "its log reports its syncs", false, false, (*checkup).syncs},
	{"faults", "it recovers from faults of the API server", false, false, (*checkup).faults},
	{"restart", "it restarts after it is killed", false, false, (*checkup).restarts},
	{"ends", "it terminates when requested", false, true, (*checkup).ends},
	{"leaves nothing", "no process remains", false, true, (*checkup).leavesNothing},
}

// errNotReached is the error of a point after an essential one that failed.
var errNotReached = errors.New("not reached")

// checkup is a controller under examination.
type checkup struct {
	Options
	instance driver.Instance
	client   *cluster.Client
	log      *event.Log
	workers  *probe.Workers
	began    time.Time // when the controller was last started

	service corpus.Service
	turn    int // of the service's pod
	hosts   int
	pod     backend.Pod

	mu     sync.Mutex
	told   []event.Sync
	killed bool  // it had to be killed at its end
	pids   []int // that it has had
}

// Report is the result of a checkup.
type Report struct {
	Results []Result `json:"results"`
	// NotApplicable are the measurements that do not apply to the controller.
	NotApplicable []event.NotApplicable `json:"notApplicable,omitempty"`
}

// OK reports whether all points are OK.
func (r Report) OK() bool {
	return !slices.ContainsFunc(r.Results, func(one Result) bool { return !one.OK })
}

// Do makes the checkup. It returns an error only if the checkup could not be made; points that fail are
// in the report.
func Do(ctx context.Context, o Options) (Report, error) {
	if o.Patience == 0 {
		o.Patience = time.Minute
	}
	c := &checkup{Options: o, log: event.NewLog(io.Discard, time.Now())}
	defer c.log.Close()
	c.log.Tap(c.see)
	var err error
	if c.instance, err = o.Driver.Prepare(ctx, o.Subject, driver.Options{Dir: o.Dir, Log: c.log}); err != nil {
		return Report{}, err
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	defer func() { _ = c.instance.Stop(context.WithoutCancel(ctx)) }() // does nothing after the point ends
	if err := c.populate(ctx); err != nil {
		return Report{}, err
	}
	c.workers = probe.WatchWorkers(watching, c.log, o.Subject.Name, c.instance.Setup().Processes, c.master)
	report := Report{NotApplicable: c.instance.Setup().Inapplicable()}
	reached := true
	for _, p := range points {
		began := time.Now()
		found, err := "", errNotReached
		if reached || p.last {
			found, err = c.one(ctx, p.what, p.check)
		}
		if ctx.Err() != nil {
			return report, context.Cause(ctx)
		}
		reached = reached && (err == nil || !p.essential)
		result := Result{Point: p.name, What: p.what, OK: err == nil, Found: found, Took: time.Since(began)}
		if err != nil {
			result.Found = err.Error()
		}
		report.Results = append(report.Results, result)
		if o.Done != nil {
			o.Done(result)
		}
	}
	return report, nil
}

// one checks one point within the patience. After a timeout, the error says what the point was waiting
// for, and what was last seen.
func (c *checkup) one(ctx context.Context, what string, check func(*checkup, context.Context) (string, error)) (string, error) {
	late := fmt.Errorf("timed out after %v, waiting until %s", c.Patience, what)
	ctx, cancel := context.WithTimeoutCause(ctx, c.Patience, late)
	defer cancel()
	found, err := check(c, ctx)
	if err != nil && errors.Is(context.Cause(ctx), late) && !errors.Is(err, late) {
		err = fmt.Errorf("%w: %w", late, err)
	}
	return found, err
}

// master returns the PID of the master, once the controller has started.
func (c *checkup) master() (int, error) {
	c.mu.Lock()
	started := !c.began.IsZero()
	c.mu.Unlock()
	if !started {
		return 0, probe.ErrNoMaster
	}
	return c.instance.Master()
}

// see keeps the syncs and worker PIDs in the log, and whether the controller had to be killed.
func (c *checkup) see(e event.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case e.Sync != nil:
		c.told = append(c.told, *e.Sync)
	case e.Trouble != nil && e.Trouble.What == driver.KilledAtEnd:
		c.killed = true
	case e.Worker != nil && !slices.Contains(c.pids, e.Worker.PID):
		c.pids = append(c.pids, e.Worker.PID)
	}
}
