package agent

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync"
)

// linesHeader has the number of lines that the log has, up to the end of the segment.
const linesHeader = "X-Windtunnel-Lines"

// store keeps the text of a log, compressed, until the harness has fetched it. It is divided into
// segments, numbered from 0. A request for a segment ends that segment, and shows that the earlier
// ones have arrived. A segment may end in the middle of a line.
type store struct {
	mu      sync.Mutex
	current *bytes.Buffer
	zip     *gzip.Writer
	lines   int    // so far
	number  int    // of the current segment
	last    []byte // the segment before, whose answer may have been lost
	lastTo  int    // lines at its end
}

func newStore() *store {
	s := &store{}
	s.begin()
	return s
}

func (s *store) begin() {
	s.current = &bytes.Buffer{}
	s.zip, _ = gzip.NewWriterLevel(s.current, gzip.BestSpeed) // an error means that there is no such level
}

func (s *store) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines += bytes.Count(p, []byte{'\n'})
	return s.zip.Write(p)
}

var errNoSegment = errors.New("there is no such segment")

// segment returns a segment and the number of lines up to its end. It ends the current one.
func (s *store) segment(number int) (text []byte, lines int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch number {
	case s.number:
		if err := s.zip.Close(); err != nil {
			return nil, 0, err
		}
		s.last, s.lastTo = s.current.Bytes(), s.lines
		s.number++
		s.begin()
		return s.last, s.lastTo, nil
	case s.number - 1:
		return s.last, s.lastTo, nil
	}
	return nil, 0, fmt.Errorf("%w: %d; the current one is %d", errNoSegment, number, s.number)
}

func (s *Server) serveEvents(w http.ResponseWriter, r *http.Request) {
	number, err := strconv.Atoi(r.PathValue("segment"))
	if err == nil {
		err = s.log.Close() // flushes it
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	text, lines, err := s.store.segment(number)
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set(linesHeader, strconv.Itoa(lines))
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = w.Write(text) // an error means that nobody reads it any more; it is kept
}
