package measure

import (
	"strings"

	"windtunnel.dev/sim/event"
)

// NotApplicable names measurements that do not apply to a subject: it cannot have them, or nothing
// can observe them. Their values have no meaning.
type NotApplicable struct {
	// Their names, as in expectations. A name covers all below it.
	Measurements []string `json:"measurements"`
	// Why they do not apply.
	Why string `json:"why"`
}

// WhyNot returns why a measurement, such as reloads or converge.way.sync, does not apply to the
// subject; "" if it does.
func (s Subject) WhyNot(measurement string) string {
	for _, n := range s.NotApplicable {
		for _, name := range n.Measurements {
			if name == measurement || strings.HasPrefix(measurement, name+".") {
				return n.Why
			}
		}
	}
	return ""
}

// notApplicable collects what the log says, inside and outside of the rounds.
type notApplicable struct{ all []NotApplicable }

func newNotApplicable(rounds) measurement { return &notApplicable{} }

func (m *notApplicable) Add(e *event.Event, _ bool) {
	if e.NotApplicable != nil {
		m.all = append(m.all, NotApplicable{e.NotApplicable.Measurements, e.NotApplicable.Why})
	}
}

func (m *notApplicable) Result(s *Subject, _ *Timeline) { s.NotApplicable = m.all }
