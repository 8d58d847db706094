package kubeapi

import (
	"bytes"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// A stream reads up to readEvents at a time from the history and writes about writeBytes at a time
// to the client. About ownBytes of these may be in the stream's own memory, which stays in use
// while the client does not read.
const (
	readEvents = 256
	writeBytes = 256 << 10
	ownBytes   = 64 << 10
)

// gatherFor returns the pause of a stream between two writes. Without it, each write would contain few
// events, and with many watchers system calls would take most of the time.
func gatherFor(watchers int32) time.Duration {
	return min(max(time.Duration(watchers)*50*time.Microsecond, time.Millisecond), 5*time.Millisecond)
}

// stream is one open watch.
type stream struct {
	w        http.ResponseWriter
	control  *http.ResponseController
	r        *request
	sel      store.Selector
	opts     watchOptions
	server   *Server
	stopping <-chan struct{}
	ended    chan struct{} // closed by end
	end      func()        // ends the stream cleanly after the write in progress
	chunked  *chunked      // nil: only net/http may write
	work     *workspace    // borrowed while there are events to send
	size     int           // size of the parts in work
	err      error         // set when the client has closed the connection
}

// open sends the header of the response, even if there is no event yet.
func (st *stream) open() {
	writeHead(st.w, st.r.codec.StreamType(), http.StatusOK)
	st.err = st.control.Flush()
}

// initial sends all matching objects and, if the client wants bookmarks, the bookmark after them.
// Nothing may end the stream before that bookmark: a client that saw events but not the bookmark
// retries at once, forever.
func (st *stream) initial(objects []*store.Object, rv uint64) error {
	for _, o := range objects {
		if !st.sel.Matches(o) {
			continue
		}
		if err := st.send(watch.Added, o, false); err != nil {
			return err
		}
	}
	if st.opts.bookmarks {
		if err := st.bookmark(rv, map[string]string{metav1.InitialEventsAnnotationKey: "true"}); err != nil {
			return err
		}
	}
	st.flush()
	return nil
}

// follow sends events as they happen.
func (st *stream) follow(cur *store.Cursor) error {
	deadline := time.NewTimer(st.opts.timeout)
	defer deadline.Stop()
	early, began := st.opts.initial && st.opts.bookmarks, cur.Seq
	bookmark := time.NewTimer(firstBookmark(early, st.opts.timeout))
	defer bookmark.Stop()
	ends := time.Now().Add(st.opts.timeout)
	var flushed time.Time
	for begins := true; st.err == nil && time.Now().Before(ends) && !closed(st.stopping) && !closed(st.ended); begins = false {
		faults := st.server.faults.now.Load()
		b := cur.Read(st.workspace().events[:0], readEvents)
		st.work.used = max(st.work.used, len(b.Events))
		if b.Lost {
			return nil // a clean end, as in kube-apiserver; the client's next watch gets 410
		}
		next, over, err := st.applyFaults(faults, b.Events, begins)
		if over {
			return err
		}
		if len(b.Events) > 0 {
			if err := st.sendAll(next); err != nil {
				return err
			}
			flushed = time.Now()
			continue
		}
		st.releaseWorkspace()
		select {
		case <-b.More:
			time.Sleep(time.Until(flushed.Add(gatherFor(st.r.Objects.Watchers.Load()))))
		case <-faults.changed:
		case <-bookmark.C:
			if !early || cur.Seq != began {
				if err := st.quietBookmark(b.Version); err != nil {
					return err
				}
			}
			early = false
			bookmark.Reset(nextBookmark(time.Until(ends)))
		case <-deadline.C:
		case <-st.stopping:
		case <-st.ended:
			return nil
		case <-st.r.Context().Done():
			return nil
		}
	}
	return nil
}

// firstBookmark returns the time until the first bookmark after the initial events. If early is set,
// it is short, because more may have happened since.
func firstBookmark(early bool, timeout time.Duration) time.Duration {
	if early {
		return min(secondBookmark, timeout)
	}
	return min(bookmarkEvery, max(timeout-lastBookmark, lastBookmark))
}

// nextBookmark returns the time until the next bookmark of a watch that ends after left.
func nextBookmark(left time.Duration) time.Duration {
	if left <= lastBookmark {
		return left + lastBookmark // after the end: no bookmark
	}
	return min(bookmarkEvery, left-lastBookmark)
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (st *stream) sendAll(events []store.Event) error {
	err := st.encode(events)
	if err == nil {
		st.flush()
	}
	return err
}

func (st *stream) encode(events []store.Event) error {
	for i := range events {
		kind, o, err := st.sel.Event(&events[i])
		if err != nil {
			return err
		}
		if o == nil {
			continue
		}
		if err := st.send(kind, o, st.r.Objects.Fresh(o)); err != nil {
			return err
		}
	}
	return nil
}

func (st *stream) send(kind watch.EventType, o *store.Object, keep bool) error {
	if plain, ok := st.r.representation.(codec.Protobuf); ok && kind == watch.Modified && o.Frame != nil {
		st.append(o.Frame)
	} else if ok {
		st.frame(func(buf []byte) []byte { return plain.AppendFrame(buf, kind, o) })
	} else {
		body, err := st.r.representation.Object(o, keep)
		if err != nil {
			return err
		}
		st.frame(func(buf []byte) []byte { return st.r.codec.Frame(buf, kind, body) })
		st.r.representation = codec.WithoutColumns(st.r.representation)
	}
	if st.size >= writeBytes || len(st.work.buf) >= ownBytes {
		st.flush()
	}
	return nil
}

// frame adds a part that is not shared with other streams; appendTo appends its bytes.
func (st *stream) frame(appendTo func([]byte) []byte) {
	work := st.workspace()
	begin := len(work.buf)
	work.buf = appendTo(work.buf)
	st.append(work.buf[begin:])
}

func (st *stream) append(part []byte) {
	work := st.workspace()
	work.parts = append(work.parts, part)
	st.size += len(part)
}

func (st *stream) flush() {
	if st.err == nil && st.size > 0 {
		st.err = st.write()
	}
	if st.work != nil {
		st.work.reset()
	}
	st.size = 0
}

func (st *stream) workspace() *workspace {
	if st.work == nil {
		st.work = borrowWorkspace()
	}
	return st.work
}

// releaseWorkspace returns the workspace to the pool.
func (st *stream) releaseWorkspace() {
	if st.work != nil {
		st.work.giveBack()
		st.work = nil
	}
}

// write sends the parts with as few system calls as the protocol allows.
func (st *stream) write() error {
	if st.chunked != nil {
		return st.chunked.write(st.work.parts, st.size)
	}
	if _, err := st.w.Write(bytes.Join(st.work.parts, nil)); err != nil {
		return err
	}
	return st.control.Flush()
}

func (st *stream) quietBookmark(rv uint64) error {
	if !st.opts.bookmarks {
		return nil
	}
	if err := st.bookmark(rv, nil); err != nil {
		return err
	}
	st.flush()
	return nil
}

// bookmark appends a BOOKMARK event: an object with nothing but its version.
func (st *stream) bookmark(rv uint64, annotations map[string]string) error {
	obj := st.r.Resource.Empty()
	object.Accessor(obj).SetAnnotations(annotations)
	o, err := store.Encode(st.r.Resource, obj, rv)
	if err != nil {
		return err
	}
	return st.send(watch.Bookmark, o, false)
}

// fail ends the stream with an ERROR event.
func (st *stream) fail(err error) {
	body, err := st.r.codec.Value(statusFor(err))
	if err != nil {
		panic(http.ErrAbortHandler) // a Status always encodes
	}
	st.frame(func(buf []byte) []byte { return st.r.codec.Frame(buf, watch.Error, body) })
	st.flush()
}
