package backend

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// TakeHeader asks for an answer that takes the given time, such as 2s. The answer's header comes at
// once, and the body is complete when the time is over. A pod answers 400 if it cannot parse the
// value of this header or of the headers of other behaviours.
const TakeHeader = "X-Windtunnel-Take"

// pieces is the number of pieces in which a slow body is sent, and the maximum for a large one.
const pieces = 20

// slowBody spreads its body over the time. It sends white space, which JSON allows, before the
// identity, so that the answer is complete only at the end.
var slowBody = behaviour{header: TakeHeader, parse: duration, answer: func(p *pod, w http.ResponseWriter, r *http.Request, identity Identity, a requested) {
	body := encoded(identity)
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)+pieces))
	for range pieces {
		if !push(w, r, " ", a.answerTime()/pieces) {
			return
		}
	}
	w.Write(body)
}}

// push sends text and waits. It returns false if the client has gone.
func push(w http.ResponseWriter, r *http.Request, text string, wait time.Duration) bool {
	if _, err := io.WriteString(w, text); err != nil {
		return false
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return false
	}
	return pause(r.Context(), wait)
}

// pause waits. It returns false if ctx ends before the time is over.
func pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
