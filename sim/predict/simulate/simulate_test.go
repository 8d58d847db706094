package simulate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"windtunnel.dev/sim/predict/simulate"
)

// free returns costs of 0, except for these fixed parts, in seconds or MiB.
func free(fixed map[simulate.Name]float64) simulate.Costs {
	var costs simulate.Costs
	for name, value := range fixed {
		costs[name].Per[simulate.Fixed] = value
	}
	return costs
}

func settings() simulate.Settings {
	return simulate.Settings{SyncRate: 0.3, Dynamic: true, Workers: 1, ShutdownTimeout: 240 * time.Second}
}

var cluster = simulate.Cluster{Ingresses: 20, Services: 20, Endpoints: 60}

func mean(all []time.Duration) float64 {
	sum := 0.0
	for _, d := range all {
		sum += d.Seconds()
	}
	return sum / float64(len(all))
}

// near fails unless got is within a share of want.
func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if math.Abs(got-want) > within*want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// ingress-nginx serves a burst of events with two syncs: one at once, and one when the rate limit
// permits it. The second one finds nothing to do if the first one saw all changes.
func TestBurstIsTwoSyncs(t *testing.T) {
	out := simulate.Run(simulate.Input{
		Cluster: cluster, Settings: settings(), For: time.Second, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.Edit, Rate: 200 / 0.05, For: 50 * time.Millisecond}},
	}, free(map[simulate.Name]float64{simulate.Render: 0.5}), 1)
	if out.Syncs != 2 || out.Reloads != 2 || out.Made != 200 || out.Unserved != 0 {
		t.Errorf("got %d syncs and %d reloads for %d changes, %d of them unserved", out.Syncs, out.Reloads, out.Made, out.Unserved)
	}
}

// Under steady changes, there is one sync per 1/rate, and a change waits half of that on average.
func TestSteadyChangesWaitForTheRateLimit(t *testing.T) {
	for _, rate := range []float64{0.3, 1, 5} {
		s := settings()
		s.SyncRate, s.Push = rate, true
		out := simulate.Run(simulate.Input{
			Cluster: cluster, Settings: s, For: 1000 * time.Second, Settle: time.Minute,
			Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 50, For: 1000 * time.Second, Poisson: true}},
		}, free(nil), 1)
		near(t, fmt.Sprintf("syncs at %v/s", rate), float64(out.Syncs), 1000*rate, 0.01)
		near(t, fmt.Sprintf("mean staleness at %v/s", rate), mean(out.Last), 1/rate/2, 0.02)
	}
}

// If n workers poll at even intervals, the first polls 1/2n seconds after a change on average, and the
// last 1/2n seconds less than a second after it. If they poll together, both are half a second.
func TestWorkersPollInTurn(t *testing.T) {
	for _, workers := range []float64{1, 4, 64} {
		for _, test := range []struct{ stagger, first, last float64 }{{1 / workers, 1 / workers / 2, 1 - 1/workers/2}, {0, 0.5, 0.5}} {
			var last, first []time.Duration
			for seed := range uint64(1000) {
				s := settings()
				s.Workers = int(workers)
				out := simulate.Run(simulate.Input{
					Cluster: cluster, Settings: s, For: time.Second, Settle: time.Minute,
					Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 1, For: time.Second}},
				}, free(map[simulate.Name]float64{simulate.Stagger: test.stagger}), seed)
				first, last = append(first, out.First...), append(last, out.Last...)
			}
			near(t, fmt.Sprintf("first of %v workers, %v s apart", workers, test.stagger), mean(first), test.first, 0.1)
			near(t, fmt.Sprintf("last of %v workers, %v s apart", workers, test.stagger), mean(last), test.last, 0.1)
		}
	}
}

// Without a rate limit, the loop is a queue with Poisson arrivals that serves all waiting changes
// together in time D (M/D/1 with unlimited batches). After a service the server is idle with
// probability exp(-λD), so it is busy for the share D / (D + exp(-λD)/λ). An arrival that finds it
// busy waits D/2 on average.
func TestQueueWithBatches(t *testing.T) {
	const d = 0.5
	for _, rate := range []float64{0.2, 1, 5} {
		s := settings()
		s.SyncRate, s.Dynamic = 1e9, false
		out := simulate.Run(simulate.Input{
			Cluster: cluster, Settings: s, For: 5000 * time.Second, Settle: time.Minute,
			Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: rate, For: 5000 * time.Second, Poisson: true}},
		}, free(map[simulate.Name]float64{simulate.Render: d}), 1)
		busy := d / (d + math.Exp(-rate*d)/rate)
		near(t, fmt.Sprintf("busy at %v/s", rate), out.Busy(), busy, 0.05)
		near(t, fmt.Sprintf("mean staleness at %v/s", rate), mean(out.Last), d+busy*d/2, 0.03)
	}
}

// With streams that outlive the shutdown timeout, each old generation lives for exactly that long.
func TestGenerationsLiveForTheShutdownTimeout(t *testing.T) {
	s := settings()
	s.SyncRate, s.ShutdownTimeout, s.Workers = 1, 4500*time.Millisecond, 2
	out := simulate.Run(simulate.Input{
		Cluster: cluster, Settings: s, For: time.Minute, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.Edit, Rate: 10, For: time.Minute}},
		Traffic: []simulate.Lane{{Rate: 100, Last: time.Hour}},
	}, free(map[simulate.Name]float64{simulate.Generation: 0, simulate.Master: 10, simulate.Worker: 3}), 1)
	if out.Generations != 6 || out.Workers != 12 { // the current one and five old ones, a second apart
		t.Errorf("got %d generations with %d workers, want 6 with 12", out.Generations, out.Workers)
	}
	near(t, "memory", out.Memory.Nginx, 10+12*3, 1e-9)
	// A stream of the first second or so of each generation is cut, and every other one as well.
	near(t, "cut streams", out.Lost.Cut, 100*60, 0.05)
}

// Streams shorter than the timeout end by themselves.
func TestShortStreamsAreNotCut(t *testing.T) {
	out := simulate.Run(simulate.Input{
		Cluster: cluster, Settings: settings(), For: time.Minute, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.Edit, Rate: 10, For: time.Minute}},
		Traffic: []simulate.Lane{{Rate: 100, Last: time.Second}},
	}, free(nil), 1)
	if out.Lost.Cut != 0 || out.Generations != 2 {
		t.Errorf("%v streams cut, %d generations", out.Lost.Cut, out.Generations)
	}
}

// With a limit of its own for syncs, endpoints do not wait for the limit of reloads.
func TestDynamicSyncsOvertakeReloads(t *testing.T) {
	s := settings()
	s.DynamicSyncRate, s.Push = 50, true
	in := simulate.Input{
		Cluster: cluster, Settings: s, For: 300 * time.Second, Settle: time.Minute,
		Changes: []simulate.Stream{
			{Kind: simulate.RollingUpdate, Rate: 5, For: 300 * time.Second},
			{Kind: simulate.Edit, Rate: 0.9, For: 300 * time.Second},
		},
	}
	out := simulate.Run(in, free(nil), 1)
	near(t, "reloads", float64(out.Reloads), 90, 0.05)
	fast := 0
	for _, last := range out.Last {
		if last < 100*time.Millisecond {
			fast++
		}
	}
	near(t, "changes without a wait", float64(fast), 5*300, 0.1)
}

// If a POST takes a worker longer than the time between two POSTs, it applies the newest one next.
// With more workers than processors, they wait for each other.
func TestWorkersShareProcessors(t *testing.T) {
	for processors, want := range map[int]float64{1: 8, 2: 4, 8: 1} {
		s := settings()
		s.Workers, s.Push = 8, true
		out := simulate.Run(simulate.Input{
			Cluster: cluster, Settings: s, Processors: processors, For: time.Second, Settle: time.Minute,
			Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 1, For: time.Second}},
		}, free(map[simulate.Name]float64{simulate.Apply: 1}), 1)
		near(t, fmt.Sprintf("last worker with %d processors", processors), mean(out.Last), want, 1e-9)
	}
}

// Requests that need half of the processors double all other times. They take at most MostLoad.
func TestRequestsTakeProcessors(t *testing.T) {
	for processors, want := range map[int]float64{1: 10, 2: 2, 8: 8.0 / 7} {
		s := settings()
		s.Workers, s.Push = 1, true
		out := simulate.Run(simulate.Input{
			Cluster: cluster, Settings: s, Processors: processors, For: time.Second, Settle: time.Minute,
			Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 1, For: time.Second}},
			Traffic: []simulate.Lane{{Rate: 400}, {Rate: 600, Repeats: true}},
		}, free(map[simulate.Name]float64{simulate.Apply: 1, simulate.Request: 0.001}), 1)
		near(t, fmt.Sprintf("last worker with %d processors", processors), mean(out.Last), want, 1e-6)
	}
}

// A pod that stops at once loses its share of the requests until every worker knows that it is gone, if
// nginx finds no other pod.
func TestDepartedPods(t *testing.T) {
	s := settings()
	s.Push, s.SyncRate = true, 1
	in := simulate.Input{
		Cluster: simulate.Cluster{Ingresses: 10, Services: 10, Endpoints: 10}, Settings: s, For: 1000 * time.Second, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 0.5, For: 1000 * time.Second}},
		Traffic: []simulate.Lane{{Rate: 1000}},
	}
	costs := free(map[simulate.Name]float64{simulate.Update: 0.4})
	out := simulate.Run(in, costs, 1)
	sum := 0.0
	for _, last := range out.Last {
		sum += last.Seconds()
	}
	near(t, "lost of the only pod", out.Lost.Departed, sum*1000/10, 0.05)

	in.Cluster.Endpoints = 100 // nginx tries three others
	if out := simulate.Run(in, costs, 1); out.Lost.Departed != 0 {
		t.Errorf("%v requests lost, although other pods serve", out.Lost.Departed)
	}
	in.Cluster.Endpoints, in.Changes[0].Drain = 10, time.Minute
	if out := simulate.Run(in, costs, 1); out.Lost.Departed != 0 {
		t.Errorf("%v requests lost, although the pods drain", out.Lost.Departed)
	}
}

// A reload loses requests of clients that keep connections and do not repeat requests.
func TestLostByReload(t *testing.T) {
	in := simulate.Input{
		Cluster: cluster, Settings: settings(), For: 1000 * time.Second, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.Edit, Rate: 10, For: 1000 * time.Second}},
		Traffic: []simulate.Lane{{Rate: 500}, {Rate: 500, Repeats: true}, {Rate: 500, New: true}},
	}
	out := simulate.Run(in, free(map[simulate.Name]float64{simulate.LostByReload: 0.01}), 1)
	near(t, "lost requests", out.Lost.Reload, float64(out.Reloads)*500*0.01, 0.1)
}

// POSTs of changed backends are small, until the changes exceed half of the list.
func TestDeltas(t *testing.T) {
	s := settings()
	s.Delta, s.Push, s.SyncRate = true, true, 10
	costs := free(map[simulate.Name]float64{simulate.List: 10, simulate.Delta: 1})
	costs[simulate.Post].Per[simulate.PerMiB] = 0.01
	costs[simulate.Apply].Per[simulate.PerMiB] = 0.001
	out := simulate.Run(simulate.Input{
		Cluster: cluster, Settings: s, For: 60 * time.Second, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 1, For: 60 * time.Second}},
	}, costs, 1)
	long := 0
	for _, last := range out.Last {
		if last >= 110*time.Millisecond { // the whole list: 100 ms for the POST, and 10 ms in the worker
			long++
		}
	}
	if long != 60/6 { // after five deltas, the sixth would exceed half of the list
		t.Errorf("%d of %d changes sent the whole list", long, len(out.Last))
	}
}

// random returns an arbitrary input and costs.
func random(seed uint64) (simulate.Input, simulate.Costs) {
	r := rand.New(rand.NewPCG(seed, 7))
	in := simulate.Input{
		Cluster: simulate.Cluster{Ingresses: 1 + r.IntN(50), Services: 1 + r.IntN(50), Endpoints: r.IntN(200)},
		Settings: simulate.Settings{
			SyncRate: 0.1 + 5*r.Float64(), Dynamic: r.IntN(2) == 0, Push: r.IntN(2) == 0, Delta: r.IntN(2) == 0,
			Workers: 1 + r.IntN(8), ShutdownTimeout: time.Duration(r.IntN(20)) * time.Second,
		},
		Processors: r.IntN(4), For: 20 * time.Second, Settle: time.Duration(r.IntN(60)) * time.Second,
		SinceSync: time.Duration(r.IntN(3)) * time.Second,
	}
	if r.IntN(2) == 0 {
		in.Settings.DynamicSyncRate = in.Settings.SyncRate + 5*r.Float64()
	}
	for range 1 + r.IntN(4) {
		in.Changes = append(in.Changes, simulate.Stream{
			Kind: simulate.Kinds[r.IntN(len(simulate.Kinds))], Rate: 0.1 + 20*r.Float64(), At: time.Duration(r.IntN(5)) * time.Second,
			For: time.Duration(1+r.IntN(15)) * time.Second, Poisson: r.IntN(2) == 0, Drain: time.Duration(r.IntN(5)) * time.Second,
		})
	}
	for range r.IntN(4) {
		in.Traffic = append(in.Traffic, simulate.Lane{Rate: 100 * r.Float64(), Last: time.Duration(r.IntN(30)) * time.Second, Repeats: r.IntN(2) == 0})
	}
	var costs simulate.Costs
	for i := range costs {
		costs[i].Spread = r.Float64()
		for _, term := range simulate.Table[i].Terms {
			costs[i].Per[term] = r.Float64() / 10
		}
	}
	return in, costs
}

// Every change is served, or reported as not served.
func TestConservation(t *testing.T) {
	for seed := range uint64(100) {
		in, costs := random(seed)
		out := simulate.Run(in, costs, seed)
		watched, made := 0, 0
		for _, s := range in.Changes {
			if s.Poisson {
				made = -1
				break
			}
			count := int(math.Round(s.Rate * s.For.Seconds()))
			made += count
			if s.Kind != simulate.Touch {
				watched += count
			}
		}
		switch {
		case out.Served+out.Unserved != out.Made:
			t.Errorf("seed %d: %d served and %d not, of %d", seed, out.Served, out.Unserved, out.Made)
		case made >= 0 && (out.Made != made || len(out.Last) != watched):
			t.Errorf("seed %d: %d made and %d watched, want %d and %d", seed, out.Made, len(out.Last), made, watched)
		case len(out.First) != len(out.Last):
			t.Errorf("seed %d: %d firsts, %d lasts", seed, len(out.First), len(out.Last))
		case out.Unserved > 0 && out.Length < in.For+in.Settle:
			t.Errorf("seed %d: %d changes are unserved, but it ended after %v of %v", seed, out.Unserved, out.Length, in.For+in.Settle)
		}
		for i := range out.First {
			if out.First[i] > out.Last[i] || out.Last[i] > out.Length {
				t.Errorf("seed %d: change %d: first after %v, last after %v, in %v", seed, i, out.First[i], out.Last[i], out.Length)
			}
		}
	}
}

func TestSeedsDetermineRuns(t *testing.T) {
	for seed := range uint64(20) {
		in, costs := random(seed)
		if a, b := simulate.Run(in, costs, seed), simulate.Run(in, costs, seed); !reflect.DeepEqual(a, b) {
			t.Errorf("seed %d: two runs differ", seed)
		}
		if a, b := simulate.Run(in, costs, seed), simulate.Run(in, costs, seed+1); reflect.DeepEqual(a.Last, b.Last) {
			t.Errorf("seed %d: another seed gives the same staleness", seed)
		}
	}
}

// A question about a cluster that is too large for any machine takes seconds, not hours.
func BenchmarkLarge(b *testing.B) {
	_, costs := random(1)
	s := settings()
	s.Workers = 64
	for b.Loop() {
		simulate.Run(simulate.Input{
			Cluster: simulate.Cluster{Ingresses: 100_000, Services: 100_000, Endpoints: 1_000_000}, Settings: s, Processors: 16,
			Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 50, For: 10 * time.Minute}}, For: 10 * time.Minute, Settle: time.Hour,
		}, free(map[simulate.Name]float64{simulate.Update: 0.5, simulate.Apply: costs[simulate.Apply].Spread}), 1)
	}
}

// once is an input with one change, a second after the beginning at the latest.
func once(kind simulate.Kind, s simulate.Settings) simulate.Input {
	return simulate.Input{
		Cluster: cluster, Settings: s, For: time.Second, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: kind, Rate: 1, For: time.Second}},
	}
}

// A new host of a service that nginx does not know needs a reload and a POST. The new workers began to
// poll when they started, so they see the POST a second after that. If nginx knows the service, the
// reload is enough.
func TestNewHosts(t *testing.T) {
	costs := free(map[simulate.Name]float64{simulate.Start: 0.3, simulate.Handover: 0.1})
	in := once(simulate.NewHosts, settings())
	in.Cluster.Services = 30
	out := simulate.Run(in, costs, 1)
	near(t, "unknown service", mean(out.Last), 0.3+1, 1e-6)
	if out.Reloads != 1 || out.Posts != 1 {
		t.Errorf("%d reloads and %d POSTs, want one of each", out.Reloads, out.Posts)
	}
	in.Cluster.Services = 20
	out = simulate.Run(in, costs, 1)
	near(t, "known service", mean(out.Last), 0.3+0.1, 1e-6) // until the old worker drains
	near(t, "its first worker", mean(out.First), 0.3, 1e-6)
	if out.Reloads != 1 || out.Posts != 0 {
		t.Errorf("%d reloads and %d POSTs, want one and none", out.Reloads, out.Posts)
	}
}

// New workers load the whole list, even if the controller posts only changes.
func TestNewWorkersLoadTheList(t *testing.T) {
	s := settings()
	s.Push, s.Delta, s.SyncRate = true, true, 10
	costs := free(map[simulate.Name]float64{simulate.List: 10, simulate.Delta: 0.001})
	costs[simulate.Apply].Per[simulate.PerMiB] = 0.1
	in := once(simulate.RollingUpdate, s)
	in.For = 3 * time.Second
	near(t, "a change alone", mean(simulate.Run(in, costs, 1).Last), 0.0001, 0.01)
	in.Changes = []simulate.Stream{
		{Kind: simulate.RollingUpdate, Rate: 1000, For: time.Millisecond},
		{Kind: simulate.Edit, Rate: 1000, At: 200 * time.Millisecond, For: time.Millisecond},
		{Kind: simulate.RollingUpdate, Rate: 1000, At: 400 * time.Millisecond, For: time.Millisecond},
	}
	out := simulate.Run(in, costs, 1)
	if last := out.Last[2].Seconds(); last < 0.79 || last > 0.81 { // the new worker loads 10 MiB until 1.2 s
		t.Errorf("a change during a reload is served after %v s, want 0.8", last)
	}
}

// The time since the last sync determines when the first one may begin.
func TestTimeSinceTheLastSync(t *testing.T) {
	s := settings()
	s.SyncRate, s.Push = 0.1, true
	in := once(simulate.RollingUpdate, s)
	in.Changes[0].For, in.Changes[0].Rate = time.Millisecond, 1000
	for since, want := range map[time.Duration]float64{0: 0, 4 * time.Second: 6, 9 * time.Second: 1, 20 * time.Second: 0} {
		in.SinceSync = since
		if got := mean(simulate.Run(in, free(nil), 1).Last); math.Abs(got-want) > 0.002 {
			t.Errorf("%v after the last sync: served after %v s, want %v", since, got, want)
		}
	}
}

// Memory has a part that only a reload causes.
func TestMemoryOfReloads(t *testing.T) {
	var costs simulate.Costs
	costs[simulate.Reloaded].Per[simulate.PerIngress] = 1
	costs[simulate.Generation].Per[simulate.PerIngress] = 0.1
	costs[simulate.Rendering].Per[simulate.PerIngress] = 2
	costs[simulate.Controller].Per[simulate.PerEndpoint] = 0.5
	for kind, want := range map[simulate.Kind]simulate.Memory{
		simulate.RollingUpdate: {Nginx: 2, Controller: 30},
		simulate.Edit:          {Nginx: 20 + 2*2, Controller: 30 + 40},
	} {
		if got := simulate.Run(once(kind, settings()), costs, 1).Memory; got != want {
			t.Errorf("%s: got %+v, want %+v", kind, got, want)
		}
	}
}

// From run to run, all times vary together, and so does all memory.
func TestRunsVary(t *testing.T) {
	costs := free(map[simulate.Name]float64{simulate.Render: 1, simulate.Test: 1, simulate.Master: 10, simulate.Worker: 10})
	for _, name := range []simulate.Name{simulate.Render, simulate.Test, simulate.Master, simulate.Worker} {
		costs[name].Between = 0.5
	}
	slower, larger, together := 0, 0, 0
	const runs = 400
	for seed := range uint64(runs) {
		out := simulate.Run(once(simulate.Edit, settings()), costs, seed)
		slow, large := out.Last[0] > 2*time.Second, out.Memory.Nginx > 30
		if slow {
			slower++
		}
		if large {
			larger++
		}
		if slow == large {
			together++
		}
	}
	for what, count := range map[string]int{"slower": slower, "larger": larger, "slower and larger, or neither": together} {
		if count < runs*4/10 || count > runs*6/10 {
			t.Errorf("%d of %d runs are %s than the median", count, runs, what)
		}
	}
}

// A run ends when all changes are made and served. Streams of old workers that last longer do not
// prolong it.
func TestOldWorkersDoNotProlongTheRun(t *testing.T) {
	in := once(simulate.Edit, settings())
	in.For = 10 * time.Second
	in.Traffic = []simulate.Lane{{Rate: 10, Last: time.Hour}}
	out := simulate.Run(in, free(map[simulate.Name]float64{simulate.Render: 1}), 1)
	if out.Length != in.For {
		t.Errorf("the run took %v, want %v", out.Length, in.For)
	}
	near(t, "busy", out.Busy(), 0.1, 1e-6)
}

// As in nginx, a shutdown timeout of 0 means no timeout: old workers live as long as their streams.
func TestNoShutdownTimeout(t *testing.T) {
	s := settings()
	s.ShutdownTimeout = 0
	out := simulate.Run(simulate.Input{
		Cluster: cluster, Settings: s, For: time.Minute, Settle: time.Minute,
		Changes: []simulate.Stream{{Kind: simulate.Edit, Rate: 10, For: time.Minute}},
		Traffic: []simulate.Lane{{Rate: 100, Last: time.Hour}},
	}, free(nil), 1)
	if out.Lost.Cut != 0 || out.Generations != out.Reloads+1 {
		t.Errorf("%v streams cut, %d generations after %d reloads", out.Lost.Cut, out.Generations, out.Reloads)
	}
}

// Workers that lack a whole list and later changes read both.
func TestNewWorkersLoadTheListAndItsDeltas(t *testing.T) {
	s := settings()
	s.Delta, s.Push, s.SyncRate = true, true, 10
	costs := free(map[simulate.Name]float64{simulate.List: 10, simulate.Delta: 2})
	costs[simulate.Apply].Per[simulate.PerMiB] = 0.1
	in := once(simulate.RollingUpdate, s)
	in.For = 20 * time.Second
	in.Changes = []simulate.Stream{
		{Kind: simulate.RollingUpdate, Rate: 1, For: 5 * time.Second}, // POSTs of 2, 2, 10, 2 and 2 MiB
		{Kind: simulate.Edit, Rate: 1, At: 10 * time.Second, For: time.Second},
	}
	out := simulate.Run(in, costs, 1)
	near(t, "the new worker", out.Last[5].Seconds(), 1.4, 1e-6)
}

// Changes that add something go to one service after another, and each service is a delta.
func TestDeltasOfSeveralServices(t *testing.T) {
	for _, kind := range []simulate.Kind{simulate.ScaleOut, simulate.NewHosts} {
		s := settings()
		s.Delta, s.Push = true, true
		costs := free(map[simulate.Name]float64{simulate.List: 100, simulate.Delta: 1})
		costs[simulate.Apply].Per[simulate.PerMiB] = 0.1
		in := once(kind, s)
		in.Cluster.Services, in.SinceSync = 40, time.Millisecond // the first sync sees all changes
		in.Changes[0].Rate, in.Changes[0].For = 5000, time.Millisecond
		in.Settings.DynamicSyncRate = 0
		out := simulate.Run(in, costs, 1)
		if out.Posts != 1 {
			t.Fatalf("%s: %d POSTs, want 1", kind, out.Posts)
		}
		want := 0.5 // five deltas
		if kind == simulate.NewHosts {
			want = 100.0/10 + 0.5 // the new worker loads the list, and then the deltas
		}
		near(t, string(kind), out.Last[4].Seconds(), 1/0.3-0.001+want, 0.001)
	}
}
