package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// certificates follows every change of a certificate until clients get the new one, by the serial
// numbers in their handshakes.
type certificates struct {
	rounds rounds
	issued []*issued
	byHost map[string][]shown // in the order of the requests
}

// issued is one change of a certificate.
type issued struct {
	event.Certificate
	at time.Duration // time of the intent
}

// shown is the certificate that one request got.
type shown struct {
	at     time.Duration // when it was sent
	done   time.Duration
	serial string
}

func newCertificates(r rounds) measurement {
	return &certificates{rounds: r, byHost: map[string][]shown{}}
}

func (m *certificates) Add(e *event.Event, in bool) {
	switch {
	case !in:
	case e.Change != nil && e.Change.Certificate != nil:
		m.issued = append(m.issued, &issued{Certificate: *e.Change.Certificate, at: e.At})
	case e.Request != nil && e.Request.Serial != "":
		sent := e.At + e.Request.Lag
		m.byHost[e.Request.Host] = append(m.byHost[e.Request.Host], shown{at: sent, done: sent + e.Request.Took, serial: e.Request.Serial})
	}
}

func (m *certificates) Result(s *Subject, _ *Timeline) {
	first, last := newDurations(), newDurations()
	for _, change := range m.issued {
		s.Certificates.Changed++
		firstNew, lastOld := m.times(change)
		if firstNew == none {
			s.Certificates.Unseen++
			continue
		}
		first.add(firstNew)
		last.add(lastOld)
	}
	s.Certificates.First, s.Certificates.Last = first.result(), last.result()
}

// times returns two times since the intent of a change: until a client first got the new
// certificate, or none; and until the last request was sent that got the old one. The second time
// is at least the first. Only the round of the change counts.
func (m *certificates) times(change *issued) (firstNew, lastOld time.Duration) {
	firstNew = none
	end := m.rounds[m.rounds.at(change.at)].End
	for _, one := range m.byHost[change.Host] {
		if one.at < change.at || one.at > end {
			continue
		}
		switch one.serial {
		case change.Serial:
			if d := one.done - change.at; firstNew == none || d < firstNew {
				firstNew = d
			}
		case change.Old:
			lastOld = max(lastOld, one.at-change.at)
		}
	}
	return firstNew, max(lastOld, firstNew)
}
