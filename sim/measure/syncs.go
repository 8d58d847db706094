package measure

import "windtunnel.dev/sim/event"

// syncs counts the syncs of a controller and the dynamic updates that it sent.
type syncs struct {
	posts Posts
	syncs Syncs

	render, test, signal, firstWorker *durations
}

func newSyncs(rounds) measurement {
	return &syncs{render: newDurations(), test: newDurations(), signal: newDurations(), firstWorker: newDurations()}
}

func (m *syncs) Add(e *event.Event, in bool) {
	if e.Sync == nil {
		return
	}
	m.posts.Visible = m.posts.Visible || !e.Sync.Partial
	if !in {
		return
	}
	m.syncs.Count++
	switch phases := e.Sync.Phases; {
	case e.Sync.Error != "":
		m.syncs.Failed++
	case e.Sync.Reload && phases != nil:
		m.render.add(phases.Render)
		m.test.add(phases.Test)
		m.signal.add(phases.Signal)
		m.firstWorker.add(phases.FirstWorker)
	}
	for _, post := range e.Sync.Posts {
		m.posts.Count++
		m.posts.Bytes += int64(post.Bytes)
	}
}

func (m *syncs) Result(s *Subject, _ *Timeline) {
	s.Posts, s.Syncs = m.posts, m.syncs
	s.Syncs.Phases = ReloadPhases{m.render.result(), m.test.result(), m.signal.result(), m.firstWorker.result()}
}
