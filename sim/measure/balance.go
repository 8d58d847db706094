package measure

import "windtunnel.dev/sim/event"

// enough is the mean number of answers per pod below which the balance of a service is not
// meaningful.
const enough = 10

// balance compares the number of answers from each pod of a service with its fair share.
type balance struct {
	pods    map[string]map[string]bool // by service
	moved   map[string]bool            // services whose pods changed: the fair shares are not known
	answers map[string]map[string]int  // by service and pod
}

func newBalance(rounds) measurement {
	return &balance{pods: map[string]map[string]bool{}, moved: map[string]bool{}, answers: map[string]map[string]int{}}
}

func (m *balance) Add(e *event.Event, in bool) {
	switch {
	case e.Pod != nil:
		if m.pods[e.Pod.Service] == nil {
			m.pods[e.Pod.Service] = map[string]bool{}
		}
		m.pods[e.Pod.Service][e.Pod.Name] = true
	case e.Change != nil && len(e.Change.Added)+len(e.Change.Removed) > 0:
		m.moved[e.Change.Service] = true
	case in && e.Request != nil && e.Request.Pod != "":
		if m.answers[e.Request.Served] == nil {
			m.answers[e.Request.Served] = map[string]int{}
		}
		m.answers[e.Request.Served][e.Request.Pod]++
	}
}

func (m *balance) Result(s *Subject, _ *Timeline) {
	for service, answers := range m.answers {
		pods := len(m.pods[service])
		if m.moved[service] || pods < 2 {
			continue
		}
		total, most := 0, 0
		for _, n := range answers {
			total, most = total+n, max(most, n)
		}
		if total < enough*pods {
			continue
		}
		s.Balance.Services++
		s.Balance.Hottest = max(s.Balance.Hottest, float64(most*pods)/float64(total))
		s.Balance.Idle += pods - len(answers)
	}
}
