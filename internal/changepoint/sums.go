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

// farthest returns the largest scaled sample measure of divergence (equation 4 of the paper, with the
// exponent 1) between the values before at and those from at to an end, which is from least to most.
// Both sides have 2 values or more.
func (s *sums) farthest(at, least, most int) (q float64) {
	n, row := float64(at), s.cells[at*s.width:(at+1)*s.width]
	within := row[at]
	for end := least; end <= most; end++ {
		m, across := float64(end-at), row[end]-within
		beyond := s.cells[end*s.width+end] - within - 2*across
		// n m / (n + m) times the mean difference across minus the mean differences on both sides.
		q = max(q, (2*across-within*m/(n-1)-beyond*n/(m-1))/(n+m))
	}
	return q
}
