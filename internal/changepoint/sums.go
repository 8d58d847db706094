package changepoint

import "math"

// sums are sums of the differences between values: cell (i, j) is the sum of |a - b| for all a among
// the first i values and b among the first j.
type sums struct {
	width int
	cells []float64
}

// of computes the sums of these values.
func (s *sums) of(values []float64) {
	n := len(values)
	s.width = n + 1
	if need := s.width * s.width; cap(s.cells) < need {
		s.cells = make([]float64, need)
	} else {
		s.cells = s.cells[:need]
	}
	clear(s.cells[:s.width])
	for i, a := range values {
		above, row := s.cells[i*s.width:(i+1)*s.width], s.cells[(i+1)*s.width:(i+2)*s.width]
		sum := 0.0
		row[0] = 0
		for j, b := range values {
			sum += math.Abs(a - b)
			row[j+1] = above[j+1] + sum
		}
	}
}

// distance returns the scaled sample measure of divergence between the values before at and those
// from at to end (equation 4 of the paper, with the exponent 1). Both have 2 values or more.
func (s *sums) distance(at, end int) float64 {
	n, m := float64(at), float64(end-at)
	within := s.cells[at*s.width+at]
	across := s.cells[at*s.width+end] - within
	beyond := s.cells[end*s.width+end] - within - 2*across
	return n * m / (n + m) * (2*across/(n*m) - within/(n*(n-1)) - beyond/(m*(m-1)))
}
