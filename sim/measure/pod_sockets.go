package measure

import "windtunnel.dev/sim/event"

// podSockets keeps how the pods listened, which is logged before the rounds.
type podSockets struct{ last event.PodSockets }

func newPodSockets(rounds) measurement { return new(podSockets) }

func (m *podSockets) Add(e *event.Event, _ bool) {
	if e.PodSockets != nil {
		m.last = *e.PodSockets
	}
}

func (m *podSockets) Result(s *Subject, _ *Timeline) { s.PodSockets = m.last }
