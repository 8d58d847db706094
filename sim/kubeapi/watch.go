package kubeapi

import (
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

const (
	// bookmarkEvery is how often a quiet watcher that asked for bookmarks gets one, as in
	// kube-apiserver.
	bookmarkEvery = time.Minute
	// lastBookmark is how long before its deadline a watcher gets another one.
	lastBookmark = 2 * time.Second
	// secondBookmark is how long after the bookmark of the initial events a watcher gets
	// another one, if more has happened since.
	secondBookmark = time.Second
)

// watchOptions are the parsed options of a watch.
type watchOptions struct {
	rv        uint64
	initial   bool // begin with an ADDED event for every existing object
	now       bool // begin with the next event, whatever the version
	bookmarks bool
	timeout   time.Duration
}

func parseWatchOptions(from *internalversion.ListOptions) (watchOptions, error) {
	o := watchOptions{bookmarks: from.AllowWatchBookmarks, timeout: watchTimeout(from.TimeoutSeconds)}
	var err error
	o.rv, err = parseRV(from.ResourceVersion)
	// A watch without a version or from version 0 begins with the existing objects, even in the old
	// protocol.
	o.initial = from.SendInitialEvents != nil && *from.SendInitialEvents
	o.now = !o.initial && o.rv == 0
	return o, err
}

const maxTimeout = 1 << 31 // in seconds; longer than any client waits

// watchTimeout returns the timeout that the client asked for, else 30 to 60 minutes.
func watchTimeout(seconds *int64) time.Duration {
	if seconds == nil || *seconds <= 0 {
		return 30*time.Minute + rand.N(30*time.Minute)
	}
	return time.Duration(min(*seconds, maxTimeout)) * time.Second
}

// watch streams events until its timeout, or until the client leaves or the server stops. An error
// after its start is an ERROR event in the stream.
func (s *Server) watch(w http.ResponseWriter, r *request) error {
	query, sel, err := readQuery(r)
	if err != nil {
		return err
	}
	opts, err := parseWatchOptions(query)
	if err != nil {
		return err
	}
	if _, isYAML := r.codec.(codec.YAML); isYAML {
		return codec.ErrStreamType()
	}
	st := &stream{w: w, control: http.NewResponseController(w), r: r, sel: sel, opts: opts, server: s, stopping: s.ending(),
		ended: make(chan struct{}), chunked: chunkedOf(w, r.Request)}
	st.end = sync.OnceFunc(func() { close(st.ended) })
	st.open()
	s.streams.add(st)
	defer s.streams.remove(st)
	r.Objects.Watchers.Add(1)
	defer r.Objects.Watchers.Add(-1)
	defer s.reclaimer.watchEnded()
	defer st.releaseWorkspace()
	cur, err := s.begin(st)
	if err == nil {
		err = st.follow(cur)
	}
	if err != nil {
		st.fail(err)
	}
	return nil
}

// begin sends the initial events, if the client asked for them, and returns the cursor to the
// events that follow.
func (s *Server) begin(st *stream) (*store.Cursor, error) {
	c, opts := st.r.Objects, st.opts
	switch {
	case opts.initial:
		if err := s.await(st.r.Context(), opts.rv); err != nil {
			return nil, err
		}
		objects, rv, cur, stale := s.staleRead(st.r)
		if !stale {
			objects, rv, cur = c.Snapshot()
		}
		return cur, st.initial(objects, rv)
	case opts.now:
		cur, _, _ := c.CursorAt(s.state.Version())
		return cur, nil
	}
	cur, oldest, ok := c.CursorAt(opts.rv)
	if !ok {
		return nil, expired(opts.rv, oldest)
	}
	return cur, nil
}
