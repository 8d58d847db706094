package traffic

import (
	"math"
	"slices"
	"testing"
	"time"
)

// dues returns the times of the first n requests, or of those before the pacer stops.
func dues(a Arrivals, seed uint64, n int) []time.Duration {
	pacer := a.Pacer(seed)
	var all []time.Duration
	var due time.Duration
	for range n {
		pacer.Pace(due, uint64(len(all))) // asking twice changes nothing
		wait, stop := pacer.Pace(due, uint64(len(all)))
		if stop {
			break
		}
		due += wait
		all = append(all, due)
	}
	return all
}

// between counts the times in an interval.
func between(all []time.Duration, from, until time.Duration) int {
	n := 0
	for _, due := range all {
		if due > from && due <= until {
			n++
		}
	}
	return n
}

func TestConstantArrivalsAreEven(t *testing.T) {
	for i, due := range dues(Arrivals{Rate: 200}, 1, 1000) {
		if want := time.Duration(i+1) * 5 * time.Millisecond; (due - want).Abs() > time.Microsecond {
			t.Fatalf("request %d is due at %v, want %v", i, due, want)
		}
	}
}

// The number of requests in an interval of a ramp is the area below it.
func TestRamp(t *testing.T) {
	all := dues(Arrivals{Rate: 10, To: 110, Over: 10 * time.Second}, 1, 2000)
	for _, stretch := range []struct{ from, until, want int }{
		{0, 1, 15}, {4, 6, 120}, {9, 10, 105}, {10, 11, 110}, {14, 16, 220},
	} {
		got := between(all, time.Duration(stretch.from)*time.Second, time.Duration(stretch.until)*time.Second)
		if d := got - stretch.want; d < -1 || d > 1 {
			t.Errorf("from %d s to %d s: %d requests, want %d", stretch.from, stretch.until, got, stretch.want)
		}
	}
}

// The rate of a sine goes up, then down, and has no effect over a whole period.
func TestSine(t *testing.T) {
	a := Arrivals{Rate: 100, Swing: 100, Period: 4 * time.Second}
	all := dues(a, 1, 4000)
	for i := range 5 {
		from := time.Duration(i) * a.Period
		up, down := between(all, from, from+2*time.Second), between(all, from+2*time.Second, from+4*time.Second)
		if up < 326 || up > 328 || down < 72 || down > 74 { // 200 ± 400/π
			t.Errorf("period %d: %d and %d requests, want 327 and 73", i, up, down)
		}
	}
	if got := a.Pacer(1).Rate(time.Second); math.Abs(got-200) > 1e-9 {
		t.Errorf("the maximum rate is %v", got)
	}
}

// Random gaps have the mean and the deviation of an exponential distribution, depend on the seed,
// and follow the rate.
func TestPoisson(t *testing.T) {
	const n = 20_000
	all := dues(Arrivals{Rate: 100, Poisson: true}, 7, n)
	var sum, squares float64
	last := time.Duration(0)
	for _, due := range all {
		gap := (due - last).Seconds()
		sum, squares, last = sum+gap, squares+gap*gap, due
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	// Five standard errors: σ/√n of the mean; the deviation's is √2 of that.
	if math.Abs(mean-0.01) > 5*0.01/math.Sqrt(n) || math.Abs(deviation-0.01) > 5*math.Sqrt2*0.01/math.Sqrt(n) {
		t.Errorf("the gaps have mean %v s and deviation %v s, want 0.01 both", mean, deviation)
	}
	if again := dues(Arrivals{Rate: 100, Poisson: true}, 7, n); !slices.Equal(all, again) {
		t.Error("the same seed generated different times")
	}
	if other := dues(Arrivals{Rate: 100, Poisson: true}, 8, n); slices.Equal(all, other) {
		t.Error("another seed generated the same times")
	}
	ramp := dues(Arrivals{Rate: 100, To: 1000, Over: 10 * time.Second, Poisson: true}, 7, n)
	if got := between(ramp, 0, 10*time.Second); math.Abs(float64(got)-5500) > 5*math.Sqrt(5500) {
		t.Errorf("%d requests in the ramp, want about 5500", got)
	}
}

// A rate that falls to zero ends the attack.
func TestRampToZero(t *testing.T) {
	all := dues(Arrivals{Rate: 10, To: 0, Over: 10 * time.Second}, 1, 1000)
	if len(all) < 49 || len(all) > 50 {
		t.Errorf("%d requests, want 50", len(all))
	}
}

// Every request is due at the time that the arrivals compute.
func FuzzArrivals(f *testing.F) {
	f.Add(100.0, 10.0, 5.0, uint16(100), uint16(100), true)
	f.Add(0.5, 0.5, 0.0, uint16(0), uint16(1), false)
	f.Fuzz(func(t *testing.T, rate, to, swing float64, over, period uint16, poisson bool) {
		a := Arrivals{Rate: rate, To: to, Swing: swing, Over: time.Duration(over) * time.Millisecond, Period: time.Duration(period) * time.Millisecond, Poisson: poisson}
		if !(rate > 0 && to > 0 && swing >= 0 && swing <= min(rate, to) && rate <= 1e5 && to <= 1e5 && rate > 0.01 && to > 0.01) {
			t.Skip()
		}
		all := dues(a, 1, 50)
		if len(all) != 50 || !slices.IsSorted(all) {
			t.Fatalf("%+v: %d of 50 requests, at %v", a, len(all), all)
		}
		if last := all[49].Seconds(); !poisson && math.Abs(a.expected(last)-50) > 1e-2 {
			t.Errorf("%+v: the 50th request is due at %v s, where the arrivals expect %v requests", a, last, a.expected(last))
		}
	})
}
