package costs

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// nonNegative returns the coefficients of 0 or more with the least squares of x·coefficients - y, by
// the method of Lawson and Hanson (Solving Least Squares Problems, chapter 23).
func nonNegative(x [][]float64, y []float64) []float64 {
	if len(x) == 0 || len(x[0]) == 0 {
		return nil
	}
	a, scale := scaled(x)
	b := mat.NewVecDense(len(y), y)
	n := len(scale)
	solution, used, refused := make([]float64, n), make([]bool, n), make([]bool, n)
	for {
		next := steepest(a, b, solution, used, refused)
		if next < 0 {
			break
		}
		used[next] = true
		if !improve(a, b, solution, used) {
			used[next], refused[next] = false, true // it depends on the columns that are used
		}
	}
	for i := range solution {
		solution[i] /= scale[i]
	}
	return solution
}

// scaled returns the columns with length 1, because the terms differ by orders of magnitude.
func scaled(x [][]float64) (*mat.Dense, []float64) {
	a := mat.NewDense(len(x), len(x[0]), nil)
	scale := make([]float64, len(x[0]))
	for j := range scale {
		for i := range x {
			scale[j] = math.Hypot(scale[j], x[i][j])
		}
		if scale[j] == 0 {
			scale[j] = 1
		}
		for i := range x {
			a.Set(i, j, x[i][j]/scale[j])
		}
	}
	return a, scale
}

// steepest returns the unused column by which the squares decrease fastest, or -1 if there is none.
func steepest(a *mat.Dense, b *mat.VecDense, solution []float64, used, refused []bool) int {
	var rest, gradient mat.VecDense
	rest.MulVec(a, mat.NewVecDense(len(solution), solution))
	rest.SubVec(b, &rest)
	gradient.MulVec(a.T(), &rest)
	best, most := -1, 1e-9*max(1, mat.Norm(b, 2))
	for j := range solution {
		if slope := gradient.AtVec(j); !used[j] && !refused[j] && slope > most {
			best, most = j, slope
		}
	}
	return best
}

// improve moves the solution to the least squares of the used columns, and stops using those that
// become zero on the way. It returns false, and changes nothing, if the columns depend on each other.
func improve(a *mat.Dense, b *mat.VecDense, solution []float64, used []bool) bool {
	before := append([]bool{}, used...)
	kept := append([]float64{}, solution...)
	for {
		target, ok := leastSquares(a, b, used)
		if !ok {
			copy(used, before)
			copy(solution, kept)
			return false
		}
		step := 1.0
		for j := range solution {
			if used[j] && target[j] <= 0 {
				step = min(step, solution[j]/(solution[j]-target[j]))
			}
		}
		for j := range solution {
			solution[j] += step * (target[j] - solution[j])
			if used[j] && (solution[j] <= 1e-12 || step < 1 && target[j] <= 0 && solution[j] < 1e-9) {
				solution[j], used[j] = 0, false
			}
		}
		if step == 1 {
			return true
		}
	}
}

// leastSquares solves for the used columns; the others are 0.
func leastSquares(a *mat.Dense, b *mat.VecDense, used []bool) ([]float64, bool) {
	rows, _ := a.Dims()
	var columns []int
	for j, is := range used {
		if is {
			columns = append(columns, j)
		}
	}
	if len(columns) > rows {
		return nil, false
	}
	target := make([]float64, len(used))
	if len(columns) == 0 {
		return target, true
	}
	part := mat.NewDense(rows, len(columns), nil)
	for k, j := range columns {
		part.SetCol(k, mat.Col(nil, j, a))
	}
	var qr mat.QR
	qr.Factorize(part)
	var solved mat.VecDense
	if qr.Cond() > 1e8 || qr.SolveVecTo(&solved, false, b) != nil {
		return nil, false
	}
	for k, j := range columns {
		target[j] = solved.AtVec(k)
	}
	return target, true
}
