package measure

import "windtunnel.dev/sim/event"

// launcher keeps what ran the controller, which is logged before the rounds.
type launcher struct{ last event.Launcher }

func newLauncher(rounds) measurement { return new(launcher) }

func (m *launcher) Add(e *event.Event, _ bool) {
	if e.Launcher != nil {
		m.last = *e.Launcher
	}
}

func (m *launcher) Result(s *Subject, _ *Timeline) { s.Launcher = m.last }
