package costs

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func squares(x [][]float64, y, coefficients []float64) float64 {
	sum := 0.0
	for i := range x {
		off := -y[i]
		for j, c := range coefficients {
			off += x[i][j] * c
		}
		sum += off * off
	}
	return sum
}

// No other set of columns has coefficients of 0 or more with a smaller sum of squares.
func TestNonNegative(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		rows, columns := 3+r.IntN(8), 1+r.IntN(5)
		x, y := make([][]float64, rows), make([]float64, rows)
		for i := range x {
			for range columns {
				x[i] = append(x[i], r.NormFloat64())
			}
			y[i] = r.NormFloat64()
		}
		got := nonNegative(x, y)
		for j, c := range got {
			if c < 0 {
				t.Fatalf("seed %d: coefficient %d is %v", seed, j, c)
			}
		}
		a, scale := scaled(x)
		for set := range uint(1 << columns) {
			used := make([]bool, columns)
			for j := range used {
				used[j] = set&(1<<j) != 0
			}
			other, ok := leastSquares(a, mat.NewVecDense(len(y), y), used)
			if !ok || bits.OnesCount(set) > rows {
				continue
			}
			negative := false
			for j := range other {
				other[j] /= scale[j]
				negative = negative || other[j] < 0
			}
			if !negative && squares(x, y, other) < squares(x, y, got)*(1-1e-6)-1e-9 {
				t.Fatalf("seed %d: %v has %v, but %v has %v", seed, got, squares(x, y, got), other, squares(x, y, other))
			}
		}
	}
}

// The result is correct even if columns depend on each other.
func TestDependentColumns(t *testing.T) {
	x := [][]float64{{1, 2, 1}, {2, 4, 1}, {3, 6, 1}}
	got := nonNegative(x, []float64{12, 22, 32})
	if sum := squares(x, []float64{12, 22, 32}, got); sum > 1e-9 {
		t.Errorf("got %v with the squares %v", got, sum)
	}
}
