package changepoint_test

import (
	"math/rand/v2"
	"testing"

	"windtunnel.dev/internal/changepoint"
)

// series returns n values around a level, with normal noise. About every twentieth value has five times
// as much noise.
func series(random *rand.Rand, n int, noise float64, level func(int) float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		z := random.NormFloat64()
		if random.IntN(20) == 0 {
			z *= 5
		}
		values[i] = level(i) + noise*z
	}
	return values
}

func flat(int) float64 { return 1 }

// step returns a level that rises from 1 by some amount, in equal parts at a number of values.
func step(at, over int, by float64) func(int) float64 {
	return func(i int) float64 { return 1 + by*min(1, max(0, float64(i-at+1)/float64(over))) }
}

func TestFindsExactSteps(t *testing.T) {
	for _, test := range []struct {
		name   string
		values []float64
		want   []int
	}{
		{"none", nil, nil},
		{"one value", []float64{1}, nil},
		{"constant", []float64{2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, nil},
		{"up", []float64{1, 1, 1, 1, 1, 1, 1, 1, 9, 9, 9, 9, 9, 9}, []int{8}},
		{"down", []float64{9, 9, 9, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1, 1}, []int{7}},
		{"up and back", []float64{1, 2, 1, 2, 1, 2, 1, 2, 9, 8, 9, 8, 9, 8, 9, 8, 1, 2, 1, 2, 1, 2, 1, 2}, []int{8, 16}},
		{"an outlier", []float64{1, 2, 1, 2, 1, 2, 1, 99, 1, 2, 1, 2, 1, 2, 1, 2}, nil},
		{"too few for a test", []float64{1, 1, 1, 9, 9, 9}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := changepoint.Find(test.values, changepoint.Options{})
			if len(found) != len(test.want) {
				t.Fatalf("found %v, want %v", found, test.want)
			}
			for i, c := range found {
				if c.At != test.want[i] || !(c.P > 0 && c.P <= 0.05) {
					t.Errorf("found %v, want %v", found, test.want)
				}
			}
		})
	}
}

// In values without a change, a change is found about as often as Alpha says.
func TestFalseAlarms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	const trials = 200
	wrong := 0
	for range trials {
		if len(changepoint.Find(series(random, 30, 0.1, flat), changepoint.Options{})) > 0 {
			wrong++
		}
	}
	t.Logf("%d of %d flat series have a change", wrong, trials)
	if wrong > 19 { // 5 % of 200 are 10, and three standard deviations more are 19
		t.Errorf("%d of %d flat series have a change", wrong, trials)
	}
}

// A step is found, and the range covers it; so does that of a slow rise.
func TestPower(t *testing.T) {
	const n, at, trials = 40, 25, 100
	for _, test := range []struct {
		over    int
		by      float64
		widest  float64 // mean number of places in the range
		atLeast int     // trials in which the change itself is in the right place
	}{
		{1, 0.2, 2.5, 80}, {1, 0.4, 1.3, 95}, {10, 0.4, 6, 90},
	} {
		random := rand.New(rand.NewPCG(2, 2))
		found, exact, covered, width := 0, 0, 0, 0
		for range trials {
			values := series(random, n, 0.05, step(at, test.over, test.by))
			changes := changepoint.Find(values, changepoint.Options{Alpha: 0.01})
			if len(changes) == 0 {
				continue
			}
			found++
			if c := changes[0].At; at <= c && c < at+test.over {
				exact++
			}
			first, last := changepoint.Range(values)
			if first < at+test.over && at <= last {
				covered++
			}
			width += last - first + 1
		}
		t.Logf("over %d by %v: %d found, %d there, %d covered by a range of %.1f", test.over, test.by, found, exact, covered, float64(width)/float64(found))
		if found < 95 || exact < test.atLeast || covered < 95 || float64(width)/float64(found) > test.widest {
			t.Errorf("over %d by %v: %d found, %d at the right place, %d covered by a range of %.1f", test.over, test.by, found, exact, covered, float64(width)/float64(found))
		}
	}
}

func TestRange(t *testing.T) {
	for _, test := range []struct {
		values      []float64
		first, last int
	}{
		{nil, 0, 0},
		{[]float64{1}, 0, 0},
		{[]float64{1, 9}, 1, 1},
		{[]float64{0, 0, 0, 9}, 3, 3},
		{[]float64{0, 0, 0, 0, 9, 9}, 4, 4},
		{[]float64{1, 2, 1, 2, 1, 2, 9, 8, 9, 8, 9, 8}, 6, 6},
		{[]float64{1, 2, 1, 2, 1, 2, 5, 9, 8, 9, 8, 9, 8}, 6, 7},
	} {
		if first, last := changepoint.Range(test.values); first != test.first || last != test.last {
			t.Errorf("%v: %d to %d, want %d to %d", test.values, first, last, test.first, test.last)
		}
	}
}

func BenchmarkFind(b *testing.B) {
	values := series(rand.New(rand.NewPCG(3, 3)), 100, 0.05, step(60, 1, 0.2))
	for b.Loop() {
		changepoint.Find(values, changepoint.Options{Alpha: 0.001})
	}
}
