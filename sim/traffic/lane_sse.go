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

// sseLane requests server-sent events: the answer to a GET is a stream of events, one every
// streamInterval, for Attack.Last. Only the number of events shows whether the stream ended
// early.
var sseLane = lane{
	name:   "sse",
	doc:    "GET of server-sent events, one every 100 ms, for `last`",
	lasts:  true,
	stream: true,
	http: &httpClient{
		method: http.MethodGet,
		header: func(a Attack) http.Header {
			return http.Header{
				"Accept":             {"text/event-stream"},
				backend.EventsHeader: {strconv.Itoa(messagesIn(a))},
				backend.TakeHeader:   {a.Last.String()},
			}
		},
		read:      readSSE,
		transport: keepAlive,
	},
}

// streamInterval is the time between two messages of any stream.
const streamInterval = 100 * time.Millisecond

// messagesIn returns how many messages a stream of Attack.Last has.
func messagesIn(a Attack) int { return max(int(a.Last/streamInterval), 1) }

// readSSE reads the stream to its end. Events out of order are a flaw. A stream that ends
// early was cut, even if it ended cleanly.
func readSSE(response *http.Response, a Attack) content {
	var c content
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if err != io.EOF {
				c.err = err
			} else if c.messages < messagesIn(a) {
				c.err = fmt.Errorf("the stream ended after %d of %s: %w", c.messages, plural.Of(messagesIn(a), "event"), io.ErrUnexpectedEOF)
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
