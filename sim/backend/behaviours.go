package backend

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// behaviour is something that a request can ask a pod for, by a header. Each has a file of its own
// and a row in behaviours.
type behaviour struct {
	header string
	// parse reads the header's value. 0 asks for nothing.
	parse func(text string) (int64, error)
	// answer answers a request whose body has been read; asked has the values of all headers.
	answer func(p *pod, w http.ResponseWriter, r *http.Request, identity Identity, a requested)
}

// behaviours is the table. A request that asks for several gets the first.
var behaviours = []behaviour{
	serverSentEvents,
	largeBody,
	slowBody,
}

// requested has the value of each header of behaviours in a request, 0 for headers that the request
// lacks.
type requested map[string]int64

// answerTime is the time over which the answer is spread.
func (a requested) answerTime() time.Duration { return time.Duration(a[TakeHeader]) }

// readRequested reads the headers of a request, or the metadata of a gRPC call.
func readRequested(h http.Header) (requested, error) {
	a := requested{}
	for _, b := range behaviours {
		text := h.Get(b.header)
		if text == "" {
			continue
		}
		value, err := b.parse(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %q: %w", b.header, text, err)
		}
		a[b.header] = value
	}
	return a, nil
}

// count returns a parser of numbers from 0 to most, of that unit.
func count(unit string, most int64) func(string) (int64, error) {
	return func(text string) (int64, error) {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 || n > most {
			return 0, fmt.Errorf("want a number%s up to %d", unit, most)
		}
		return n, nil
	}
}

// duration parses times up to maxTime; the value is in nanoseconds.
func duration(text string) (int64, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxTime {
		return 0, fmt.Errorf("want a duration up to %v", maxTime)
	}
	return int64(d), nil
}

// maxTime bounds how long an answer may take.
const maxTime = 10 * time.Minute
