package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stream is an open watch and its events.
type stream struct {
	body  io.ReadCloser
	more  *sync.Cond
	mu    sync.Mutex
	got   []any // each {type, object}
	ended bool
}

func follow(resp *http.Response) *stream {
	st := &stream{body: resp.Body}
	st.more = sync.NewCond(&st.mu)
	next := jsonEvents(resp.Body)
	if mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); mediaType == protobufType {
		next = protobufEvents(resp.Body)
	}
	go st.read(next)
	return st
}

func (st *stream) read(next func() (any, error)) {
	for {
		event, err := next()
		st.mu.Lock()
		if err != nil {
			st.ended = true
		} else {
			st.got = append(st.got, event)
		}
		st.more.Broadcast()
		st.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// await waits until there are n events, the stream ends or the time is over.
func (st *stream) await(n int, patience time.Duration) {
	over := false
	timer := time.AfterFunc(patience, func() {
		st.mu.Lock()
		defer st.mu.Unlock()
		over = true
		st.more.Broadcast()
	})
	defer timer.Stop()
	st.mu.Lock()
	defer st.mu.Unlock()
	for len(st.got) < n && !st.ended && !over {
		st.more.Wait()
	}
}

func (st *stream) events() []any {
	st.mu.Lock()
	defer st.mu.Unlock()
	return append([]any{}, st.got...)
}

// settle waits until two streams of the same watch have the same number of events, and then a short
// time for unexpected events. Then it closes both.
func settle(a, b *stream) {
	const patience, quiet = 3 * time.Second, 100 * time.Millisecond
	for since := time.Now(); time.Since(since) < patience; {
		n, m := len(a.events()), len(b.events())
		if n == m {
			a.await(n+1, quiet)
			if len(a.events()) == n && len(b.events()) == n {
				break
			}
			continue
		}
		if n < m {
			a.await(m, patience)
		} else {
			b.await(n, patience)
		}
		if len(a.events()) < m || len(b.events()) < n {
			break
		}
	}
	a.body.Close()
	b.body.Close()
}

func jsonEvents(r io.Reader) func() (any, error) {
	decoder := json.NewDecoder(r)
	decoder.UseNumber()
	return func() (event any, err error) {
		err = decoder.Decode(&event)
		return event, err
	}
}

func protobufEvents(r io.Reader) func() (any, error) {
	return func() (any, error) {
		var size [4]byte
		if _, err := io.ReadFull(r, size[:]); err != nil {
			return nil, err
		}
		frame := make([]byte, min(binary.BigEndian.Uint32(size[:]), 16<<20))
		if _, err := io.ReadFull(r, frame); err != nil {
			return nil, err
		}
		var event metav1.WatchEvent
		if err := event.Unmarshal(frame); err != nil {
			return nil, fmt.Errorf("reading a frame of the watch: %w", err)
		}
		body, err := fromProtobuf(event.Object.Raw)
		if err != nil {
			return nil, err
		}
		object, err := parseJSON(body)
		return map[string]any{"type": event.Type, "object": object}, err
	}
}
