package event

import "iter"

// Merge yields the events of several logs as one. It always takes the log whose next event has the
// smallest At. So the result is in the order of At wherever each of the logs is. The first error
// ends it.
func Merge(logs ...iter.Seq2[Event, error]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		heads := make([]head, 0, len(logs))
		defer func() {
			for _, h := range heads {
				h.stop()
			}
		}()
		for _, log := range logs {
			pull, stop := iter.Pull2(log)
			heads = append(heads, head{pull: pull, stop: stop})
		}
		for i := range heads {
			heads[i].advance()
		}
		for {
			h := next(heads)
			if h == nil || !yield(h.event, h.err) || h.err != nil {
				return
			}
			h.advance()
		}
	}
}

// next returns the first log with an error, or else the one whose event has the smallest At. It
// returns nil if all logs have ended.
func next(heads []head) (least *head) {
	for i := range heads {
		h := &heads[i]
		switch {
		case !h.more:
		case h.err != nil:
			return h
		case least == nil || h.event.At < least.event.At:
			least = h
		}
	}
	return least
}

// head is a log with its next event.
type head struct {
	pull  func() (Event, error, bool)
	stop  func()
	event Event
	err   error
	more  bool
}

func (h *head) advance() { h.event, h.err, h.more = h.pull() }
