package kubeapi

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// bookmarkEvery is how often a quiet watcher that asked for it is told its
// version, as in kube-apiserver. Once more this long before its deadline.
const (
	bookmarkEvery = time.Minute
	lastBookmark  = 2 * time.Second
)

// watchOptions is the query of a watch, read.
type watchOptions struct {
	rv        uint64
	initial   bool // begin with an ADDED event for every object there is
	now       bool // begin with what comes, whatever the version
	bookmarks bool
	timeout   time.Duration
}

func parseWatchOptions(r *request) (watchOptions, error) {
	q := r.query
	var o watchOptions
	var err error
	if o.rv, err = parseRV(q.Get("resourceVersion")); err != nil {
		return o, err
	}
	if o.bookmarks, _, err = queryBool(q.Get("allowWatchBookmarks"), "allowWatchBookmarks"); err != nil {
		return o, err
	}
	initial, given, err := queryBool(q.Get("sendInitialEvents"), "sendInitialEvents")
	if err != nil {
		return o, err
	}
	match := q.Get("resourceVersionMatch")
	switch {
	case given && match != string(metav1.ResourceVersionMatchNotOlderThan):
		return o, invalidOption("resourceVersionMatch", "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan")
	case !given && match != "":
		return o, invalidOption("resourceVersionMatch", "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided")
	}
	// A watch from no or version 0 begins with what there is, even in the old protocol.
	o.initial = initial || (!given && o.rv == 0)
	o.now = given && !initial && o.rv == 0
	o.timeout, err = watchTimeout(q.Get("timeoutSeconds"))
	return o, err
}

// watchTimeout is the time that the client asked for, else 30 to 60 minutes.
func watchTimeout(text string) (time.Duration, error) {
	if text == "" {
		return 30*time.Minute + rand.N(30*time.Minute), nil
	}
	seconds, err := strconv.ParseInt(text, 10, 32)
	if err != nil || seconds < 0 {
		return 0, errors.NewBadRequest(fmt.Sprintf("timeoutSeconds %q is not a number from 0", text))
	}
	if seconds == 0 {
		return watchTimeout("")
	}
	return time.Duration(seconds) * time.Second, nil
}

func queryBool(text, name string) (value, given bool, err error) {
	if text == "" {
		return false, false, nil
	}
	if value, err = strconv.ParseBool(text); err != nil {
		return false, false, errors.NewBadRequest(fmt.Sprintf("%s %q is neither true nor false", name, text))
	}
	return value, true, nil
}

// watch streams events until its timeout, the client's leaving or the server's
// stopping. Troubles after its start are told in the stream, as an ERROR event.
func (s *Server) watch(w http.ResponseWriter, r *request) error {
	sel, err := parseSelector(r.res, r.namespace, r.name, r.query)
	if err != nil {
		return err
	}
	opts, err := parseWatchOptions(r)
	if err != nil {
		return err
	}
	st := &stream{w: w, control: http.NewResponseController(w), r: r, sel: sel, opts: opts, server: s, stopping: s.ending()}
	st.open()
	r.objects.watchers.Add(1)
	defer r.objects.watchers.Add(-1)
	cur, err := s.begin(st)
	if err == nil {
		err = st.follow(cur)
	}
	if err != nil {
		st.fail(err)
	}
	return nil
}

// begin sends the initial events, if asked for, and returns the cursor to what follows.
func (s *Server) begin(st *stream) (*cursor, error) {
	c, opts := st.r.objects, st.opts
	switch {
	case opts.initial:
		if err := s.await(st.r.Context(), opts.rv); err != nil {
			return nil, err
		}
		objects, rv, cur, stale := s.staleRead(st.r)
		if !stale {
			objects, rv, cur = c.snapshot()
		}
		return cur, st.initial(objects, rv)
	case opts.now:
		cur, _, _ := c.cursorAt(s.revision.Load())
		return cur, nil
	}
	cur, oldest, ok := c.cursorAt(opts.rv)
	if !ok {
		return nil, expired(opts.rv, oldest)
	}
	return cur, nil
}
