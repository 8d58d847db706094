package traffic

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/backend"
)

// serverSent is the client of server-sent events: a GET whose answer is a
// stream of events, one in a tenth of a second, for Attack.Last. Nothing but
// its end tells how long it was to be, so an early end is told by the numbers.
var serverSent = lane{
	name:   "sse",
	doc:    "GET of server-sent events, one every 100 ms, for `last`",
	method: http.MethodGet,
	ask: func(a Attack) http.Header {
		return http.Header{
			"Accept":             {"text/event-stream"},
			backend.EventsHeader: {strconv.Itoa(eventsIn(a))},
			backend.TakeHeader:   {a.Last.String()},
		}
	},
	read:      readEvents,
	stream:    true,
	transport: keepAlive,
	lasts:     true,
}

// beat is how often something comes over a stream.
const beat = 100 * time.Millisecond

func eventsIn(a Attack) int { return max(int(a.Last/beat), 1) }

// readEvents reads the stream to its end. Events out of order are a flaw; a
// stream that ends early, in whatever good order, has been cut.
func readEvents(response *http.Response, a Attack) content {
	var c content
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if err != io.EOF {
				c.err = err
			} else if c.messages < eventsIn(a) {
				c.err = fmt.Errorf("the stream ended after %d of %s: %w", c.messages, plural.Of(eventsIn(a), "event"), io.ErrUnexpectedEOF)
			}
			return c
		}
		if id, ok := bytes.CutPrefix(line, []byte("id: ")); ok {
			c.messages++
			if got := string(bytes.TrimSpace(id)); got != strconv.Itoa(c.messages) && c.flaw == "" {
				c.flaw = fmt.Sprintf("event %s came as number %d", got, c.messages)
			}
		}
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			c.identity = bytes.TrimSpace(data)
		}
	}
}
