package costs_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/simulate"
)

// observe returns observations of runs with known costs: of the time of a configuration test, and of
// the memory of nginx, which is a sum of costs.
func observe(truth simulate.Costs, runs, each int, noise float64) []costs.Observation {
	random := rand.New(rand.NewPCG(1, 1))
	var all []costs.Observation
	add := func(model string, run int, of ...costs.Part) {
		value := 0.0
		for _, part := range of {
			value += truth[part.Cost].At(part.Size)
		}
		all = append(all, costs.Observation{Model: model, Run: run, Value: value * math.Exp(noise*random.NormFloat64()), Of: of})
	}
	for run := range runs {
		ingresses, workers := []float64{100, 500, 2000}[run%3], []float64{2, 8}[run%2]
		size := simulate.Size{simulate.Fixed: 1, simulate.PerIngress: ingresses, simulate.PerEndpoint: ingresses * float64(1+run%4)}
		for i := range each {
			add("test", run, costs.Part{Cost: simulate.Test, Size: size})
			generations := float64(1 + i%2)
			add("nginx", run,
				costs.Part{Cost: simulate.Master, Size: size},
				costs.Part{Cost: simulate.Generation, Size: simulate.Size{simulate.PerIngress: generations * ingresses}},
				costs.Part{Cost: simulate.Worker, Size: simulate.Size{simulate.Fixed: generations * workers, simulate.PerIngress: generations * workers * ingresses}})
		}
	}
	return all
}

func truth() simulate.Costs {
	var c simulate.Costs
	c[simulate.Test].Per = [simulate.Terms]float64{simulate.Fixed: 0.05, simulate.PerIngress: 0.0003, simulate.PerEndpoint: 0.00002}
	c[simulate.Master].Per[simulate.Fixed] = 12
	c[simulate.Generation].Per[simulate.PerIngress] = 0.02
	c[simulate.Worker].Per = [simulate.Terms]float64{simulate.Fixed: 8, simulate.PerIngress: 0.01}
	return c
}

// near reports whether a value is within a share of another.
func near(got, want, within float64) bool { return math.Abs(got-want) <= within*math.Abs(want) }

// Without noise, the fit finds the costs, even those that are only observed in a sum.
func TestFitFindsCosts(t *testing.T) {
	want := truth()
	p, err := costs.Fit(observe(want, 12, 4, 0), 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Point()
	for i := range want {
		for term := range want[i].Per {
			if !near(got[i].Per[term], want[i].Per[term], 0.01) && math.Abs(got[i].Per[term]-want[i].Per[term]) > 1e-6 {
				t.Errorf("%s, term %d: got %v, want %v", simulate.Table[i].Name, term, got[i].Per[term], want[i].Per[term])
			}
		}
	}
}

// With noise, the intervals are near the costs, and the spread is that of the noise.
func TestIntervals(t *testing.T) {
	want := truth()
	p, err := costs.Fit(observe(want, 24, 40, 0.2), 24, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, fitted := range p.Costs {
		if fitted.Name != "test" {
			continue
		}
		if !near(fitted.Spread, 0.2, 0.1) {
			t.Errorf("spread %v, want 0.2", fitted.Spread)
		}
		if fitted.Observations != 24*40 || fitted.Runs != 24 {
			t.Errorf("%d observations in %d runs", fitted.Observations, fitted.Runs)
		}
		for name, value := range map[string]float64{"fixed": 0.05, "ingress": 0.0003, "endpoint": 0.00002} {
			e := fitted.Terms[name]
			if !(0.95*e.Low <= value && value <= 1.05*e.High && e.Low < e.High && e.High < 3*value) {
				t.Errorf("%s: the interval from %v to %v does not fit the value %v", name, e.Low, e.High, value)
			}
		}
	}
	distinct := map[float64]bool{}
	for i := range 50 {
		distinct[p.Draw(i)[simulate.Test].At(simulate.Size{simulate.Fixed: 1, simulate.PerIngress: 1000})] = true
	}
	if len(distinct) < 20 {
		t.Errorf("50 draws have %d values", len(distinct))
	}
}

// Requests slow a configuration test down: the fit finds their CPU time, and the cost of the test alone.
func TestFitFindsCostOfRequests(t *testing.T) {
	want := truth()
	const request = 0.0008 // s
	want[simulate.Request].Per[simulate.Fixed] = request
	all := observe(want, 12, 4, 0)
	for i := range all {
		all[i].Rate = []float64{0, 25, 500}[all[i].Run/3%3]
		if all[i].Model == "test" {
			all[i].Value /= 1 - all[i].Rate*request
		}
	}
	p, err := costs.Fit(all, 12, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := p.Point()
	if !near(got[simulate.Request].Per[simulate.Fixed], request, 0.05) {
		t.Errorf("a request takes %v s, want %v", got[simulate.Request].Per[simulate.Fixed], request)
	}
	size := simulate.Size{simulate.Fixed: 1, simulate.PerIngress: 1000, simulate.PerEndpoint: 2000}
	for _, cost := range []simulate.Name{simulate.Test, simulate.Master} {
		if !near(got[cost].At(size), want[cost].At(size), 0.05) {
			t.Errorf("%s: %v, want %v", simulate.Table[cost].Name, got[cost].At(size), want[cost].At(size))
		}
	}
}

// Rare events are added up: most runs have none.
func TestCounts(t *testing.T) {
	var all []costs.Observation
	for run, count := range []float64{0, 3, 0, 1} {
		all = append(all, costs.Observation{Model: "lost", Run: run, Value: count, Count: true, Of: []costs.Part{{Cost: simulate.LostByReload, Size: simulate.Size{simulate.Fixed: 100}}}})
	}
	p, err := costs.Fit(all, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Point()[simulate.LostByReload].Per[simulate.Fixed]; got != 0.01 {
		t.Errorf("got %v, want 4 of 400", got)
	}
}

// A cost is never negative, although a line through these values would begin below zero.
func TestCostsAreNotNegative(t *testing.T) {
	var all []costs.Observation
	for run, ingresses := range []float64{100, 200, 400} {
		all = append(all, costs.Observation{Model: "test", Run: run, Value: ingresses * ingresses / 1e5, Of: []costs.Part{{Cost: simulate.Test, Size: simulate.Size{simulate.Fixed: 1, simulate.PerIngress: ingresses}}}})
	}
	p, err := costs.Fit(all, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	per := p.Point()[simulate.Test].Per
	if per[simulate.Fixed] != 0 || per[simulate.PerIngress] <= 0 {
		t.Errorf("got %v", per)
	}
}

func TestNothingToFit(t *testing.T) {
	if p, err := costs.Fit(nil, 0, 1); err == nil {
		t.Errorf("got %v", p)
	}
}
