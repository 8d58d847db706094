package fault

import (
	"fmt"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
)

// ResumeExpired answers watches that resume from a version with 410, as an ERROR event in the
// stream, which then ends. It spares streaming lists: no real server answers them this way, and
// their clients would retry at once, forever.
func ResumeExpired() Fault {
	return Fault{
		Name:    "resume-expired",
		Applies: func(c *Call) bool { return c.Verb == "watch" && c.Begins && c.Asked != "" && c.Asked != "0" },
		Stream: func(c *Call) Step {
			return Step{Err: errors.NewResourceExpired("too old resource version: " + c.Asked)}
		},
	}
}

// ErrorEvent ends open watches with an ERROR event of code 500, 503 or 504.
func ErrorEvent(code int) Fault {
	return Fault{Name: fmt.Sprint("error-event-", code), Stream: func(*Call) Step { return Step{Err: serverError(code)} }}
}

// ClosedWatch ends open watches cleanly. The idle timeout of a load balancer does the same, and
// kube-apiserver may do so at any time.
func ClosedWatch() Fault {
	return Fault{Name: "closed-watch", Stream: func(*Call) Step {
		return Step{Order: []int{}, Bytes: func([]byte) []byte { return nil }}
	}}
}

// EmptyWatch accepts a watch and ends it at once without an event. client-go calls this a very
// short watch.
func EmptyWatch() Fault {
	return Fault{
		Name:    "empty-watch",
		Applies: func(c *Call) bool { return c.Watches() },
		Serve: func(_ *Call, w http.ResponseWriter, _ func(http.ResponseWriter)) error {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusOK)
			return nil
		},
	}
}

// StalledWatch makes open watches send nothing, not even bookmarks, and outlast their timeouts.
// When the fault is healed, they continue where they were.
func StalledWatch() Fault {
	return Fault{Name: "stalled-watch", Stream: func(c *Call) Step {
		c.Wait(-1)
		return Step{}
	}}
}

// DelayedEvents delays events and bookmarks by at least d and by less than twice d, and keeps their
// order.
func DelayedEvents(d time.Duration) Fault {
	return Fault{
		Name:    "delayed-events",
		Applies: func(c *Call) bool { return c.Events > 0 },
		Stream: func(c *Call) Step {
			c.Wait(d)
			return Step{}
		},
	}
}

// TruncatedFrame sends the first half of the next event and resets the connection:
// client-go resumes. Over HTTP/2 only the stream is reset, and client-go lists again.
func TruncatedFrame() Fault {
	return Fault{
		Name:    "truncated-frame",
		Applies: func(c *Call) bool { return c.Events > 0 },
		Stream: func(*Call) Step {
			return Step{Order: []int{0}, Bytes: func(b []byte) []byte { return b[:len(b)/2] }, Cut: true}
		},
	}
}

// Garbage sends the HTML page of a proxy into an open watch, which then ends. With JSON
// client-go lists again; with protobuf it reads the page as a length and resumes at the end.
func Garbage() Fault {
	return Fault{Name: "garbage", Stream: func(*Call) Step {
		return Step{Bytes: func([]byte) []byte { return []byte(page) }}
	}}
}
