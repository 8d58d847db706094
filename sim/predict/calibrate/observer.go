package calibrate

import (
	"math"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/simulate"
)

// observer collects the costs of a run.
type observer struct {
	run    *Run
	number int
	all    []costs.Observation

	hosts, pods int                  // that synced changes have added
	written     []event.Event        // changes that the API server has accepted since the last sync began
	changes     map[int]event.Change // by ID
	began       time.Duration        // when the last sync began
	intents     []time.Duration      // of all changes so far
	drains      map[int]time.Duration
}

// add adds an observation of a single cost.
func (o *observer) add(cost simulate.Name, value float64, size simulate.Size) {
	o.all = append(o.all, costs.Observation{Model: simulate.Table[cost].Name, Run: o.number, Value: value, Of: []costs.Part{{Cost: cost, Size: size}}})
}

// size returns the current size of the cluster.
func (o *observer) size() simulate.Size {
	cluster := o.run.Input.Cluster
	return simulate.Size{
		simulate.Fixed: 1, simulate.PerIngress: float64(cluster.Ingresses + o.hosts), simulate.PerService: float64(cluster.Services),
		simulate.PerEndpoint: float64(cluster.Endpoints + o.pods), simulate.PerWorker: float64(o.run.Input.Settings.Workers),
	}
}

// confSize returns the size for costs of nginx.conf, which contains services and their endpoints only
// in reload mode.
func (o *observer) confSize() simulate.Size {
	size := o.size()
	if o.run.Input.Settings.Dynamic {
		size[simulate.PerService], size[simulate.PerEndpoint] = 0, 0
	}
	return size
}

// postSize returns the size for costs of POSTs, which have no endpoints in reload mode.
func (o *observer) postSize() simulate.Size {
	size := o.size()
	if !o.run.Input.Settings.Dynamic {
		size[simulate.PerEndpoint] = 0
	}
	return size
}

var fixed = simulate.Size{simulate.Fixed: 1}

func (o *observer) observe() {
	o.changes, o.drains = map[int]event.Change{}, map[int]time.Duration{}
	begin := o.run.begin()
	for _, e := range o.run.events {
		switch {
		case e.At < begin:
		case e.Change != nil:
			o.intents = append(o.intents, e.At)
			o.changes[e.Change.ID] = *e.Change
		case e.Written != nil && e.Written.Error == "":
			o.written = append(o.written, e)
		case e.Sync != nil && e.Sync.Error == "" && !e.Sync.Partial:
			o.sync(e)
		case e.Worker != nil:
			o.worker(e)
		}
	}
	o.announcements()
	o.stagger()
	o.memory(begin)
	o.lost()
	for i := range o.all {
		o.all[i].Rate = o.run.Input.RequestRatePerProcessor()
	}
}

// sync observes the costs of a sync. e is the event at its end.
func (o *observer) sync(e event.Event) {
	began := e.At - e.Sync.Took
	o.notice(began)
	services := map[string]bool{}
	var later []event.Event
	for _, w := range o.written {
		if w.At > began {
			later = append(later, w)
			continue
		}
		change := o.changes[w.Written.Change]
		if change.Step == string(simulate.NewHosts) {
			o.hosts++
		}
		o.pods += len(change.Added) - len(change.Removed)
		services[change.Service] = true
	}
	o.written, o.began = later, began
	rest := e.Sync.Took
	for _, post := range e.Sync.Posts {
		rest -= post.Took
		o.post(post, len(services))
	}
	switch phases := e.Sync.Phases; {
	case !e.Sync.Reload:
		o.add(simulate.Update, rest.Seconds(), o.size())
	case phases != nil:
		size := o.confSize()
		o.add(simulate.Render, phases.Render.Seconds(), size)
		o.add(simulate.Test, phases.Test.Seconds(), size)
		o.add(simulate.Signal, phases.Signal.Seconds(), size)
		o.add(simulate.Start, phases.FirstWorker.Seconds(), size)
		o.add(simulate.Handover, (rest - phases.Render - phases.Test - phases.Signal - phases.FirstWorker).Seconds(), size)
	}
}

// notice observes how fast the controller notices a change, if no rate limit delayed the sync. A
// sync that found nothing to do is not in the log, and may have taken one token since the last
// sync.
func (o *observer) notice(began time.Duration) {
	settings := o.run.Input.Settings
	rate := max(settings.SyncRate, settings.DynamicSyncRate)
	if o.began == 0 || (began-o.began).Seconds() < 2/rate+0.01 {
		return
	}
	for _, intent := range slices.Backward(o.intents) {
		if intent < began {
			o.add(simulate.Notice, max(began-intent, leastLatency).Seconds(), fixed)
			return
		}
	}
}

// leastLatency is the shortest time that the clock of the log can distinguish from zero.
const leastLatency = time.Millisecond

func (o *observer) post(post event.Post, services int) {
	const backends = "/configuration/backends"
	size := mib(int64(post.Bytes))
	switch {
	case post.Path == backends:
		o.add(simulate.List, size, o.size())
	case strings.HasPrefix(post.Path, backends) && services > 0:
		o.add(simulate.Delta, size/float64(services), fixed)
	default:
		return
	}
	o.add(simulate.Post, post.Took.Seconds(), simulate.Size{simulate.Fixed: 1, simulate.PerMiB: size})
}

// worker observes how long an old worker without streams takes to end.
func (o *observer) worker(e event.Event) {
	for _, lane := range o.run.Input.Traffic {
		if lane.Last > 0 {
			return
		}
	}
	switch e.Worker.State {
	case event.Draining:
		o.drains[e.Worker.PID] = e.At
	case event.Exited:
		if began, ok := o.drains[e.Worker.PID]; ok {
			o.add(simulate.Drain, (e.At - began).Seconds(), fixed)
		}
	case event.Active:
	}
}

// announcements observes the time from a POST until the first worker serves the new backends, if
// the controller announces them. This includes the time to notice the announcement and to apply the
// backends.
func (o *observer) announcements() {
	if !o.run.Input.Settings.Push {
		return
	}
	for _, c := range o.run.changes {
		if c.Legs.Reach <= 0 || c.Legs.Wait < 0 {
			continue
		}
		end := c.At + c.Legs.Write + c.Legs.Wait + c.Legs.Sync
		for _, e := range o.run.events {
			if e.Sync == nil || e.At != end || len(e.Sync.Posts) == 0 {
				continue
			}
			o.all = append(o.all, costs.Observation{Model: "look", Run: o.number, Value: c.Legs.Reach.Seconds(), Of: []costs.Part{
				{Cost: simulate.Announce, Size: fixed},
				{Cost: simulate.Apply, Size: simulate.Size{simulate.PerMiB: mib(int64(e.Sync.Posts[0].Bytes))}},
			}})
		}
	}
}

// stagger observes how far apart the polls of workers are.
func (o *observer) stagger() {
	settings := o.run.Input.Settings
	if settings.Push || !settings.Dynamic || settings.Workers < 2 {
		return
	}
	for _, c := range o.run.changes {
		if c.Fate == measure.Converged {
			o.add(simulate.Stagger, max(c.Legs.Spread, leastLatency).Seconds()/float64(settings.Workers-1), fixed)
		}
	}
}

// memory observes the memory of nginx: the highest sample for each number of generations and
// workers, separately before and after the first reload.
func (o *observer) memory(begin time.Duration) {
	type state struct {
		generations, workers int
		reloaded             bool
	}
	reload := o.firstReload()
	highest := map[state]float64{}
	var order []state
	for _, e := range o.run.events {
		if e.Usage == nil || e.Usage.NginxPSS == 0 || e.At < begin {
			continue
		}
		s := state{e.Usage.Generations, e.Usage.Workers, e.At >= reload}
		if highest[s] == 0 {
			order = append(order, s)
		}
		highest[s] = max(highest[s], mib(e.Usage.NginxPSS))
	}
	conf, posted := o.confSize(), o.postSize()
	for _, s := range order {
		parts := []costs.Part{
			{Cost: simulate.Master, Size: posted},
			{Cost: simulate.Generation, Size: times(conf, s.generations)},
			{Cost: simulate.Worker, Size: times(posted, s.workers)},
		}
		if s.reloaded {
			parts = append(parts, costs.Part{Cost: simulate.Reloaded, Size: conf})
		}
		o.all = append(o.all, costs.Observation{Model: "nginx", Run: o.number, Value: highest[s], Of: parts})
	}
	if o.run.ControllerMemory > 0 {
		parts := []costs.Part{{Cost: simulate.Controller, Size: o.size()}}
		if o.run.Result.Reloads > 0 {
			parts = append(parts, costs.Part{Cost: simulate.Rendering, Size: conf})
		}
		o.all = append(o.all, costs.Observation{Model: "controller", Run: o.number, Value: o.run.ControllerMemory, Of: parts})
	}
}

// firstReload returns when the first sync with a reload began.
func (o *observer) firstReload() time.Duration {
	for _, e := range o.run.events {
		if e.Sync != nil && e.Sync.Reload {
			return e.At - e.Sync.Took
		}
	}
	return math.MaxInt64
}

// times returns n times the size.
func times(size simulate.Size, n int) simulate.Size {
	for i := range size {
		size[i] *= float64(n)
	}
	return size
}

// lossCauses are the causes of requests lost by a reload.
var lossCauses = []event.Cause{event.IdleClose, event.Reset, event.Refused, event.EOF, event.Truncated}

// lost observes how many requests reloads lost, of clients that keep connections and never repeat a
// request.
func (o *observer) lost() {
	rate, lanes := 0.0, map[string]bool{}
	for i, lane := range o.run.Input.Traffic {
		if !lane.Repeats && !lane.New && lane.Last == 0 {
			rate += lane.Rate
			lanes[o.run.Question.Traffic[i].Lane] = true
		}
	}
	count := 0
	for _, measured := range o.run.Result.Lanes {
		for _, cause := range lossCauses {
			if lanes[measured.Name] {
				count += measured.Causes[string(cause)]
			}
		}
	}
	if size := rate * float64(o.run.Result.Reloads); size > 0 {
		o.all = append(o.all, costs.Observation{Model: "lost", Run: o.number, Value: float64(count), Count: true, Of: []costs.Part{{Cost: simulate.LostByReload, Size: simulate.Size{simulate.Fixed: size}}}})
	}
}
