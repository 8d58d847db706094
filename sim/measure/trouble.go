package measure

import (
	"fmt"
	"slices"

	"windtunnel.dev/sim/event"
)

// trouble reports what went wrong, inside and outside of the rounds: each message once, with the
// number of times.
type trouble struct{ times map[string]int }

func newTrouble(rounds) measurement { return &trouble{map[string]int{}} }

func (m *trouble) Add(e *event.Event, _ bool) {
	if e.Trouble == nil {
		return
	}
	text := e.Trouble.What
	if e.Trouble.Detail != "" {
		text += ": " + e.Trouble.Detail
	}
	m.times[text]++
}

func (m *trouble) Result(s *Subject, _ *Timeline) {
	var lines []string
	for text, n := range m.times {
		if n > 1 {
			text = fmt.Sprintf("%s (%d times)", text, n)
		}
		lines = append(lines, text)
	}
	slices.Sort(lines)
	s.Trouble = append(s.Trouble, lines...)
}
