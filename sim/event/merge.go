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
			next, stop := iter.Pull2(log)
			heads = append(heads, head{next: next, stop: stop})
		}
		for i := range heads {
			heads[i].advance()
		}
		for {
			least := -1
			for i, h := range heads {
				if h.more && (h.err != nil || least < 0 || h.event.At < heads[least].event.At) {
					least = i
				}
				if h.more && h.err != nil {
					break
				}
			}
			if least < 0 || !yield(heads[least].event, heads[least].err) || heads[least].err != nil {
				return
			}
			heads[least].advance()
		}
	}
}

// head is a log of which the next event is known.
type head struct {
	next  func() (Event, error, bool)
	stop  func()
	event Event
	err   error
	more  bool
}

func (h *head) advance() { h.event, h.err, h.more = h.next() }
