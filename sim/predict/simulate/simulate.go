// Package simulate is a discrete-event simulation of the control loop of ingress-nginx: changes, the
// queue and the rate limit, syncs, reloads, POSTs, the polls of workers, draining generations and
// their memory. Its one rule: the same input, costs and seed give the same outcome.
package simulate

import (
	"math/rand/v2"
	"time"
)

// Outcome is the outcome of one simulated run.
type Outcome struct {
	Made, Served, Unserved int // changes; those of the kind Touch have nothing to serve and count as served
	// First and Last have the time from the intent of each change until the first worker, and until
	// every worker, served it. For a change that was not served, it is the time until the end.
	First, Last []time.Duration

	Syncs, Reloads, Posts int
	Syncing               time.Duration // time in syncs
	Length                time.Duration // until all changes were served, or the time to settle was over

	List                 float64 // MiB of the largest list of backends
	Generations, Workers int     // most alive at once
	Memory               Memory
	Lost                 Lost
	Steps                []Step // in order of time
}

// Memory is peak memory in MiB.
type Memory struct{ Nginx, Controller float64 }

// Sum is the memory of both, if they peak at the same time.
func (m Memory) Sum() float64 { return m.Nginx + m.Controller }

// Busy is the share of time in which a sync ran.
func (o Outcome) Busy() float64 {
	if o.Length == 0 {
		return 0
	}
	return o.Syncing.Seconds() / o.Length.Seconds()
}

// simulation is the state of a run.
type simulation struct {
	agenda
	in     Input
	costs  Costs
	random *rand.Rand
	source rand.Source
	out    Outcome

	cluster Cluster // as the controller sees it
	changes []*change
	coming  int       // changes that the controller has not noticed yet
	open    []*change // that no sync has seen
	held    []*change // that wait for a reload
	waiting []*change // that are on their way to the workers

	tasks          []task
	busy           bool
	lastSync       time.Duration // when the last sync took its task
	syncs, reloads limiter
	due            time.Duration // when a held reload is requested again

	generations []*generation // with a live worker, the oldest first
	processors  servers
	posted      []posted
	list        float64 // MiB of the backends at the beginning
}

// Run simulates a run.
func Run(in Input, costs Costs, seed uint64) Outcome {
	source := rand.NewPCG(seed, 1)
	s := &simulation{
		in: in, costs: costs, source: source, random: rand.New(source), cluster: in.Cluster, lastSync: none,
		syncs: newLimiter(in.Settings.dynamicRate()), reloads: newLimiter(in.Settings.SyncRate),
		processors: make(servers, max(in.Processors, 1)),
	}
	s.costs.vary(s.random)
	s.costs.slowDown(in.RequestRatePerProcessor())
	if in.SinceSync > 0 {
		s.syncs.next = s.syncs.every - in.SinceSync
		s.reloads.next = s.reloads.every - in.SinceSync
	}
	s.list = s.costs[List].At(s.postSize())
	s.out.List = s.list
	s.startGeneration()
	s.prepare()
	end := in.For + in.Settle
	s.run(end, func(next time.Duration) bool { return next <= in.For || s.isServing() })
	s.finish(min(max(s.now, in.For), end))
	return s.out
}

// isServing reports whether changes are not served yet, or a sync runs.
func (s *simulation) isServing() bool {
	return s.busy || s.coming+len(s.open)+len(s.held)+len(s.waiting) > 0
}

// finish sums up the run.
func (s *simulation) finish(end time.Duration) {
	s.out.Length = end
	s.out.Memory.Controller = s.costs[Controller].At(s.size())
	if s.out.Reloads > 0 {
		s.out.Memory.Controller += s.costs[Rendering].At(s.confSize())
	}
	for _, c := range s.changes {
		s.out.Made++
		if c.last == none {
			s.out.Unserved++
		} else {
			s.out.Served++
		}
		if !c.watched() {
			continue
		}
		s.out.First = append(s.out.First, since(c.at, c.first, end))
		s.out.Last = append(s.out.Last, since(c.at, c.last, end))
	}
	s.out.Lost.Departed = s.poisson(s.departed(end))
}

func since(at, served, end time.Duration) time.Duration {
	if served == none {
		served = end
	}
	return max(0, served-at)
}

// size returns the current size of the cluster.
func (s *simulation) size() Size {
	return Size{
		Fixed: 1, PerIngress: float64(s.cluster.Ingresses), PerService: float64(s.cluster.Services),
		PerEndpoint: float64(s.cluster.Endpoints), PerWorker: float64(s.in.Settings.Workers),
	}
}

// confSize returns the size for costs of nginx.conf, which contains services and their endpoints only
// in reload mode.
func (s *simulation) confSize() Size {
	size := s.size()
	if s.in.Settings.Dynamic {
		size[PerService], size[PerEndpoint] = 0, 0
	}
	return size
}

// postSize returns the size for costs of POSTs, which have no endpoints in reload mode.
func (s *simulation) postSize() Size {
	size := s.size()
	if !s.in.Settings.Dynamic {
		size[PerEndpoint] = 0
	}
	return size
}

func (s *simulation) sample(name Name, size Size) float64 {
	return s.costs[name].sample(size, s.random)
}
