package backend

import (
	"fmt"
	"net/http"
	"time"
)

// EventsHeader asks for a number of messages, spread over the time of TakeHeader: server-sent
// events, or messages of a gRPC stream.
const EventsHeader = "X-Windtunnel-Events"

// serverSentEvents answers with a stream of server-sent events, each with its number, from 1, and
// the identity (https://html.spec.whatwg.org/multipage/server-sent-events.html).
var serverSentEvents = behaviour{header: EventsHeader, parse: count("", 100_000), answer: func(p *pod, w http.ResponseWriter, r *http.Request, identity Identity, a requested) {
	identity.setHeaders(w.Header())
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	events := a[EventsHeader]
	for i := range events {
		event := fmt.Sprintf("id: %d\ndata: %s\n\n", i+1, encoded(identity))
		if !push(w, r, event, a.answerTime()/time.Duration(events)) {
			return
		}
	}
}}
