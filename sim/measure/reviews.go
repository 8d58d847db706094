package measure

import "windtunnel.dev/sim/event"

// Reviews describes the API server's calls of admission webhooks.
type Reviews struct {
	Count  int       `json:"count"`
	Denied int       `json:"denied"` // by the webhook
	Failed int       `json:"failed"` // without an answer, or with one that is not valid
	Took   Durations `json:"took"`   // of those with an answer, from the call until the answer was read
}

// reviews measures the reviews within the rounds.
type reviews struct {
	result Reviews
	took   *durations
}

func newReviews(rounds) measurement { return &reviews{took: newDurations()} }

func (m *reviews) Add(e *event.Event, in bool) {
	if e.Review == nil || !in {
		return
	}
	m.result.Count++
	switch {
	case e.Review.Error != "":
		m.result.Failed++
		return
	case !e.Review.Allowed:
		m.result.Denied++
	}
	m.took.add(e.Review.Took)
}

func (m *reviews) Result(s *Subject, _ *Timeline) {
	s.Reviews = m.result
	s.Reviews.Took = m.took.result()
}
