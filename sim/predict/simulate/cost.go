package simulate

import (
	"math"
	"math/rand/v2"
	"time"
)

// Term is a quantity with which a cost grows.
type Term int

// The terms of costs.
const (
	Fixed Term = iota
	PerIngress
	PerService
	PerEndpoint
	PerWorker
	PerMiB // of a POST
	terms
)

// Terms is the number of terms.
const Terms = int(terms)

// Size is the number of each Term for which a cost is computed. Fixed is 1.
type Size [Terms]float64

// Cost is the median of a cost as a linear function of a size. Times are in seconds, memory and lists
// in MiB.
type Cost struct {
	Per    [Terms]float64
	Spread float64 // standard deviation of the logarithm of the values of a run
	// Between is the standard deviation of the logarithm of the medians of runs: a machine is
	// slower in some runs than in others.
	Between float64
}

// At returns the median for a size.
func (c Cost) At(size Size) float64 {
	sum := 0.0
	for i, per := range c.Per {
		sum += per * size[i]
	}
	return sum
}

// farthest limits how far a sample lies from the median, in standard deviations.
const farthest = 3

// sample returns a random value for a size.
func (c Cost) sample(size Size, random *rand.Rand) float64 {
	value := c.At(size)
	if c.Spread == 0 {
		return value
	}
	return value * math.Exp(c.Spread*normal(random))
}

// vary changes the costs to those of one run: all times are scaled together, and so is all memory.
func (c *Costs) vary(random *rand.Rand) {
	slower, larger := normal(random), normal(random)
	for i := range c {
		z := slower
		if Table[i].Unit != "s" {
			z = larger
		}
		factor := math.Exp(c[i].Between * z)
		for term := range c[i].Per {
			c[i].Per[term] *= factor
		}
	}
}

// normal returns a random number with a normal distribution, cut at farthest.
func normal(random *rand.Rand) float64 {
	return max(-farthest, min(random.NormFloat64(), farthest))
}

// Name names a cost.
type Name int

// The costs. Table describes them.
const (
	Notice Name = iota
	Update
	Render
	Test
	Signal
	Start
	Handover
	Post
	Announce
	Stagger
	Apply
	Drain
	List
	Delta
	Master
	Reloaded
	Generation
	Worker
	Controller
	Rendering
	LostByReload
	Request
	names
)

// Names is the number of costs.
const Names = int(names)

// Costs are the costs of a controller on a machine.
type Costs [Names]Cost

// Row describes a cost.
type Row struct {
	Name  string
	Unit  string // s or MiB
	Doc   string
	Terms []Term
}

// Table describes all costs, in the order of their names.
var Table = [Names]Row{
	Notice:       {"notice", "s", "from the intent of a change until the queue of the controller has it", []Term{Fixed}},
	Update:       {"update", "s", "a sync without a reload, except for its POST", []Term{Fixed, PerIngress, PerEndpoint}},
	Render:       {"render", "s", "the controller renders nginx.conf", []Term{Fixed, PerIngress, PerService, PerEndpoint}},
	Test:         {"test", "s", "nginx -t", []Term{Fixed, PerIngress, PerService, PerEndpoint}},
	Signal:       {"signal", "s", "nginx -s reload", []Term{Fixed, PerIngress, PerService, PerEndpoint}},
	Start:        {"start", "s", "from the signal of a reload to the first new worker", []Term{Fixed, PerIngress, PerService, PerEndpoint}},
	Handover:     {"handover", "s", "from the first new worker until all old workers drain, and what else a sync with a reload does", []Term{Fixed, PerIngress, PerWorker}},
	Post:         {"post", "s", "a POST of backends", []Term{Fixed, PerMiB}},
	Announce:     {"announce", "s", "from a POST until a worker reads it, if the controller announces it", []Term{Fixed}},
	Stagger:      {"stagger", "s", "between the polls of a worker and of the one that started before it", []Term{Fixed}},
	Apply:        {"apply", "s", "CPU time of a worker to load new backends", []Term{PerMiB}},
	Drain:        {"drain", "s", "time until an old worker without streams ends", []Term{Fixed}},
	List:         {"list", "MiB", "a POST of all backends", []Term{Fixed, PerService, PerEndpoint}},
	Delta:        {"delta", "MiB", "a changed backend in a POST of changed backends", []Term{Fixed}},
	Master:       {"master", "MiB", "nginx without its workers; endpoints that are posted are in shared memory", []Term{Fixed, PerEndpoint}},
	Reloaded:     {"reloaded", "MiB", "what the master of nginx keeps after its first reload", []Term{PerIngress, PerService, PerEndpoint}},
	Generation:   {"generation", "MiB", "what the workers of a generation share: their configuration", []Term{PerIngress, PerService, PerEndpoint}},
	Worker:       {"worker", "MiB", "memory of one worker; endpoints count if they are posted", []Term{Fixed, PerIngress, PerEndpoint}},
	Controller:   {"controller", "MiB", "peak memory of the controller", []Term{Fixed, PerIngress, PerEndpoint}},
	Rendering:    {"rendering", "MiB", "additional memory of the controller if nginx.conf changes", []Term{PerIngress, PerEndpoint}},
	LostByReload: {"lost", "s", "requests lost by a reload, per request/s of clients that never repeat one", []Term{Fixed}},
	Request:      {"request", "s", "CPU time that a request takes from everything else, with its client and its pod", []Term{Fixed}},
}

// MostLoad is the largest share of the processors that requests take in the simulation. With a share
// of 1, nothing else would ever end.
const MostLoad = 0.9

// Slowdown returns the factor by which requests make a cost longer. Rate is their number per second for each
// processor, request the CPU time of one in seconds. It is 1 for costs that are not times.
func Slowdown(cost Name, rate, request float64) float64 {
	if Table[cost].Unit != "s" || cost == LostByReload || cost == Request {
		return 1
	}
	return 1 / (1 - min(rate*request, MostLoad))
}

// slowDown makes times longer by a rate of requests, per second for each processor.
func (c *Costs) slowDown(rate float64) {
	for i := range c {
		factor := Slowdown(Name(i), rate, c[Request].Per[Fixed])
		for term := range c[i].Per {
			c[i].Per[term] *= factor
		}
	}
}

// seconds converts a number of seconds, of at most a century.
func seconds(s float64) time.Duration {
	const century = 100 * 365 * 24 * time.Hour
	if s >= century.Seconds() {
		return century
	}
	return time.Duration(s * float64(time.Second))
}
