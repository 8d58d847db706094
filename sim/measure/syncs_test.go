package measure

import (
	"testing"

	"windtunnel.dev/sim/event"
)

// Reports that tell only that there was a sync say nothing of POSTs: none is not known to be sent.
func TestPartialReportsShowNoPosts(t *testing.T) {
	for name, test := range map[string]struct {
		syncs   []event.Sync
		visible bool
	}{
		"partial":  {[]event.Sync{{Partial: true, Reload: true}, {Partial: true}}, false},
		"complete": {[]event.Sync{{Took: 1}, {Took: 1, Posts: []event.Post{{Bytes: 3}}}}, true},
	} {
		m := &syncs{}
		for _, sync := range test.syncs {
			m.Add(event.Event{Sync: &sync}, true)
		}
		var s Subject
		m.Result(&s, nil)
		if s.Posts.Visible != test.visible || s.Syncs.Count != len(test.syncs) {
			t.Errorf("%s: %+v, %+v", name, s.Posts, s.Syncs)
		}
	}
}
