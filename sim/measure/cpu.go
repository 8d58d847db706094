package measure

import (
	"fmt"
	"time"

	"windtunnel.dev/sim/event"
)

// cpu measures the CPU time of each round: the difference between the totals in the samples nearest
// to its beginning and its end.
type cpu struct {
	rounds  rounds
	samples []totals
}

type totals struct{ at, nginx, controller time.Duration }

func newCPU(r rounds) measurement { return &cpu{rounds: r} }

func (m *cpu) Add(e *event.Event, _ bool) {
	if u := e.Usage; u != nil {
		m.samples = append(m.samples, totals{e.At, u.NginxCPU + u.ChildrenCPU, u.ControllerCPU})
	}
}

func (m *cpu) Result(s *Subject, _ *Timeline) {
	if len(m.samples) == 0 {
		return
	}
	for _, r := range m.rounds {
		from, to := m.nearest(r.Begin), m.nearest(r.End)
		nginx, controller := to.nginx-from.nginx, to.controller-from.controller
		if nginx < 0 || controller < 0 {
			s.Trouble = append(s.Trouble, fmt.Sprintf("CPU totals decreased in round %d: a process ended, and its CPU time is lost; the CPU seconds are too low", r.Number))
		}
		s.CPU.Nginx += max(nginx, 0)
		s.CPU.Controller += max(controller, 0)
	}
}

// nearest returns the sample nearest to t. If several samples have the same time, it returns the
// largest totals, because totals only grow.
func (m *cpu) nearest(t time.Duration) totals {
	best := m.samples[0]
	for _, s := range m.samples[1:] {
		switch nearer := (s.at - t).Abs() - (best.at - t).Abs(); {
		case nearer < 0:
			best = s
		case nearer == 0 && s.at == best.at:
			best.nginx, best.controller = max(best.nginx, s.nginx), max(best.controller, s.controller)
		}
	}
	return best
}
