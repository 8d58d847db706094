package sweep

import "windtunnel.dev/sim/measure"

// joined returns the drain curve of the generations of two curves. If one curve ends at zero, its
// generations continue to count as zeros.
func joined(a, b []measure.Left) []measure.Left {
	var all []measure.Left
	for i := range max(len(a), len(b)) {
		x, y := point(a, i), point(b, i)
		n := float64(x.Generations + y.Generations)
		if n == 0 {
			break
		}
		mean := func(p, q float64) float64 {
			return (p*float64(x.Generations) + q*float64(y.Generations)) / n
		}
		all = append(all, measure.Left{
			After: max(x.After, y.After), Generations: x.Generations + y.Generations,
			Workers: mean(x.Workers, y.Workers), Clients: mean(x.Clients, y.Clients), Pods: mean(x.Pods, y.Pods),
		})
	}
	return all
}

// point returns a point of a drain curve, with no generations if the point is unknown.
func point(curve []measure.Left, i int) measure.Left {
	if i < len(curve) {
		return curve[i]
	}
	if n := len(curve); n > 0 && curve[n-1].Workers == 0 {
		return measure.Left{Generations: curve[n-1].Generations}
	}
	return measure.Left{}
}
