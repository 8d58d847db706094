package compare

import (
	"math"

	"windtunnel.dev/sim/measure"
)

// Budget is how much a figure may rise before it counts as worse: the largest of its
// fields.
type Budget struct {
	More float64 // in the figure's unit
	Rel  float64 // of base, 0 to 1
	// Chance is for counts of random events: a number of standard deviations, each
	// the square root of the count (Poisson).
	Chance float64
}

// allows returns how much a figure may rise from a value.
func (b Budget) allows(base float64) float64 {
	base = math.Abs(base)
	return max(b.More, b.Rel*base, b.Chance*math.Sqrt(base))
}

// relative returns the share by which a figure that varies may rise.
const relative = 0.10

const (
	millisecond = 1e-3
	mebibyte    = 1 << 20
)

// defaults are the budgets of figures by name; a figure without one may not
// rise at all.
//
// For counts: depending on the sync rate limit, a run may have one more reload and
// one more POST by chance. Lost requests, retries and new connections are random
// events that come in bursts, so a few more mean nothing. For figures that vary,
// More is about the error of the measurement: a tick of CPU time is 10 ms, a probe
// takes some milliseconds, the median of hundreds of requests is exact to a few
// microseconds.
var defaults = map[string]Budget{
	"reloads":          {More: 1, Rel: 0.10},
	"posts.count":      {More: 1, Rel: 0.10},
	"posts.bytes":      {Rel: 0.10},
	"syncs.failed":     {More: 3, Rel: 0.50, Chance: 2},
	"converge.flaps":   {More: 3, Rel: 0.50, Chance: 2},
	"requests.failed":  {More: 3, Rel: 0.50, Chance: 2},
	"requests.retries": {More: 10, Rel: 0.50, Chance: 2},
	"requests.sockets": {More: 20, Rel: 0.50, Chance: 2},
	"workers.alive":    {More: 1},

	"start.served":          {More: 50 * millisecond, Rel: relative},
	"converge.first.p50":    {More: 5 * millisecond, Rel: relative},
	"converge.last.p50":     {More: 5 * millisecond, Rel: relative},
	"converge.last.p99":     {More: 5 * millisecond, Rel: relative},
	"converge.between.p99":  {More: 5 * millisecond, Rel: relative},
	"requests.latency.p50":  {More: 0.1 * millisecond, Rel: relative},
	"requests.latency.p99":  {More: 0.5 * millisecond, Rel: relative},
	"requests.stale.n":      {More: 5, Rel: relative},
	"requests.stale.max":    {More: 20 * millisecond, Rel: relative},
	"outage":                {More: 20 * millisecond, Rel: relative},
	"certificates.last.p50": {More: 20 * millisecond, Rel: relative},
	"balance.hottest":       {More: 0.05, Rel: relative},
	"cpu.controller":        {More: 50 * millisecond, Rel: relative},
	"cpu.nginx":             {More: 50 * millisecond, Rel: relative},
	"memory.peakRSS":        {More: mebibyte, Rel: relative},
	"memory.peakPSS":        {More: mebibyte, Rel: relative},
}

// DefaultBudget is the budget of a figure for which the options name none.
func DefaultBudget(figure measure.Figure) Budget { return defaults[figure.Name] }

// budget returns the budget of a figure: its own, or the default with the floors of
// the options.
func (o Options) budget(figure measure.Figure) Budget {
	if b, given := o.Budgets[figure.Name]; given {
		return b
	}
	b := DefaultBudget(figure)
	if figure.Kind.Varies() && o.Relative != 0 {
		b.Rel = o.Relative
	}
	if figure.Kind == measure.Time && o.Absolute != 0 {
		b.More = o.Absolute
	}
	return b
}
