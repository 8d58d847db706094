package simulate

import "time"

// Step is the state of nginx from a moment on.
type Step struct {
	At          time.Duration `json:"at"`
	Generations int           `json:"generations"` // with a live worker
	Memory      float64       `json:"memory"`      // of nginx, in MiB
}

// weigh records the live generations and their memory, after they have changed.
func (s *simulation) weigh() {
	size := s.postSize()
	step := Step{At: s.now, Memory: s.costs[Master].At(size)}
	if s.newest().number > 1 {
		step.Memory += s.costs[Reloaded].At(s.confSize())
	}
	workers := 0
	live := s.generations[:0]
	for _, g := range s.generations {
		if g.alive == 0 {
			continue
		}
		live = append(live, g)
		step.Generations++
		step.Memory += s.costs[Generation].At(s.confSize())
		workers += g.alive
	}
	s.generations = live
	step.Memory += float64(workers) * s.costs[Worker].At(size)
	s.out.Generations = max(s.out.Generations, step.Generations)
	s.out.Workers = max(s.out.Workers, workers)
	s.out.Memory.Nginx = max(s.out.Memory.Nginx, step.Memory)
	if last := len(s.out.Steps) - 1; last >= 0 && s.out.Steps[last].At == step.At {
		s.out.Steps[last] = step
	} else {
		s.out.Steps = append(s.out.Steps, step)
	}
}
