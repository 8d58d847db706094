package kubeapi

import (
	"bytes"

	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// applyFaults asks the active faults for the next action of an open watch, with the events that it
// is about to send. It returns the events to send, and whether the stream is over.
func (st *stream) applyFaults(set *faultSet, events []store.Event, begins bool) (_ []store.Event, over bool, err error) {
	if len(set.injections) == 0 {
		return events, false, nil
	}
	s := st.server
	c := s.callOf(st.r.Request)
	c.Ending, c.Begins, c.Events = st.stopping, begins, len(events)
	for _, in := range set.injections {
		if in.Stream == nil || !s.faults.hits(in, c, s.state.Version()) {
			continue
		}
		step := in.Stream(in.callFor(c))
		switch {
		case step.Err != nil:
			return nil, true, step.Err
		case step.Bytes != nil:
			return nil, true, st.sendInstead(c, selectEvents(events, step.Order), step)
		case step.Order != nil:
			events = selectEvents(events, step.Order)
			c.Events = len(events)
		}
	}
	return events, false, nil
}

// sendInstead sends the bytes that the step returns for the events.
func (st *stream) sendInstead(c *fault.Call, events []store.Event, step fault.Step) error {
	if err := st.encode(events); err != nil {
		return err
	}
	work := st.workspace()
	instead := step.Bytes(bytes.Join(work.parts, nil))
	work.reset()
	st.size = 0
	st.append(instead)
	st.flush()
	if step.Cut {
		c.Reset()
	}
	return nil
}

func selectEvents(events []store.Event, order []int) []store.Event {
	if order == nil {
		return events
	}
	picked := make([]store.Event, 0, len(order))
	for _, i := range order {
		picked = append(picked, events[i])
	}
	return picked
}
