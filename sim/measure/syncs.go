package measure

import "windtunnel.dev/sim/event"

// syncs counts the syncs of a controller and the dynamic updates that it sent.
type syncs struct {
	posts Posts
	syncs Syncs
}

func newSyncs(rounds) measurement { return &syncs{} }

func (m *syncs) Add(e event.Event, in bool) {
	if e.Sync == nil {
		return
	}
	m.posts.Visible = m.posts.Visible || !e.Sync.Partial
	if !in {
		return
	}
	m.syncs.Count++
	if e.Sync.Error != "" {
		m.syncs.Failed++
	}
	for _, post := range e.Sync.Posts {
		m.posts.Count++
		m.posts.Bytes += int64(post.Bytes)
	}
}

func (m *syncs) Result(s *Subject, _ *Timeline) { s.Posts, s.Syncs = m.posts, m.syncs }
